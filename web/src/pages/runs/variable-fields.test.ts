import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstFields, readFields, readVariables, serverFault } from './variable-fields'

const declared = [
  { name: 'greeting', default: 'hi' },
  { name: 'count', type: 'number' },
  { name: 'deep', type: 'json', default: { a: 1 } },
  { name: 'on', type: 'boolean', required: true },
  { name: 'token', secret: true, default: 's3cret!' },
  { name: 'other', secret: true, required: true },
]

test('reads declarations and ignores the rest', () => {
  assert.deepEqual(
    readVariables([{ name: 'a' }, 3, { type: 'string' }, null]).map(({ name, type }) => [name, type]),
    [['a', 'string']],
  )
  assert.deepEqual(readVariables(undefined), [])
})

test('starts fields with defaults and hides secrets', () => {
  const fields = firstFields(readVariables(declared))
  assert.deepEqual(fields.greeting, { text: 'hi', stored: false })
  assert.deepEqual(fields.token, { text: '', stored: true })
  assert.deepEqual(fields.other, { text: '', stored: false })
  assert.ok(!JSON.stringify(fields).includes('s3cret'))
})

test('offers the values of an earlier run, except secrets', () => {
  const fields = firstFields(readVariables(declared), { greeting: 'ho', count: 7, token: '***' })
  assert.deepEqual([fields.greeting?.text, fields.count?.text, fields.token?.text], ['ho', '7', ''])
})

test('sends only changed values and reports missing ones', () => {
  const variables = readVariables(declared)
  const { values, faults } = readFields(variables, firstFields(variables))
  assert.deepEqual([values, Object.keys(faults)], [{}, ['on', 'other']])
})

test('parses values by their type', () => {
  const variables = readVariables(declared)
  const plain = (text: string) => ({ text, stored: false })
  const { values, faults } = readFields(variables, {
    greeting: plain(''),
    count: plain('1.5'),
    deep: plain('[1]'),
    on: plain('false'),
    token: plain('new'),
    other: plain('x'),
  })
  assert.deepEqual([values, faults], [{ greeting: '', count: 1.5, deep: [1], on: false, token: 'new', other: 'x' }, {}])
  const bad = readFields(variables, { count: plain('1,5'), deep: plain('{'), on: plain('yes'), other: plain('x') })
  assert.deepEqual(Object.keys(bad.faults), ['count', 'deep', 'on'])
  assert.match(readFields(variables, { deep: plain('') }).faults.deep ?? '', /default/)
})

test('finds the field of a server error by name', () => {
  const issues = [{ path: ['options', 'variables', 'count'], message: 'must be a number' }]
  assert.equal(serverFault(issues, 'count'), 'must be a number')
  assert.equal(serverFault(issues, 'greeting'), undefined)
})
