import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTypes } from './find-types'

const types = [
  { type: 'code', title: 'Code', description: 'Runs JavaScript; console.log writes into the log.' },
  { type: 'blueprint', title: 'Run a blueprint', description: 'Runs another.' },
  { type: 'log', title: 'Log', description: 'Writes a line.' },
  { type: 'http-request', title: 'HTTP request', description: 'Sends.' },
]

test('lists matching names before matching descriptions', () => {
  const found = (text: string) =>
    findTypes(types, text, (type) => (type.type === 'http-request' ? 'Services' : 'Data')).map((type) => type.type)
  assert.deepEqual(found('log'), ['log', 'code'])
  assert.deepEqual(found('run'), ['blueprint', 'code'])
  assert.deepEqual(found('http req'), ['http-request'])
  assert.deepEqual(found('services'), ['http-request'])
  assert.deepEqual(
    found(' '),
    types.map((type) => type.type),
  )
  assert.deepEqual(found('nothing'), [])
})
