import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeTypes } from '../../../test/node-types'
import { alsoCalled, findTypes } from './find-types'

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

test('finds types by what they are called elsewhere', () => {
  const all = [
    { type: 'blueprint', title: 'Run a blueprint', description: 'If the run fails, the node fails.' },
    { type: 'conditional', title: 'Condition', description: 'Continues at "true" or "false".' },
    { type: 'switch', title: 'Switch', description: 'Chooses a case.' },
    { type: 'for-each', title: 'For each', description: 'Runs nodes for every item.' },
    { type: 'template', title: 'Template', description: 'Fills in a text.' },
    ...types.slice(0, 1),
  ]
  const found = (text: string) => findTypes(all, text, () => '').map((type) => type.type)
  assert.deepEqual(found('if'), ['conditional', 'blueprint'])
  assert.deepEqual(found('branch'), ['conditional', 'switch'])
  assert.equal(found('loop')[0], 'for-each')
  assert.equal(found('javascript')[0], 'code')
  assert.equal(found('te')[0], 'template')
})

test('knows what types of this version are called elsewhere', () => {
  const known = nodeTypes.map((type) => type.type)
  assert.deepEqual(
    [...alsoCalled.keys()].filter((type) => !known.includes(type)),
    [],
  )
})
