import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldOf } from '../forms/schema'
import { behaviourSchema, behaviourSummary } from './behaviour'
import { codeErrorOf, issuesOfNode } from './node-issues'
import { readNodeText } from './node-json'

const node = { id: 'a', type: 'http-request', title: 'A', config: {} }

test('reads a node from its JSON', () => {
  assert.deepEqual(readNodeText('{"id":"a","type":"set","title":"","config":{},"x":1}', 'a'), {
    node: { id: 'a', type: 'set', title: '', config: {}, x: 1 },
  })
  for (const text of [
    '',
    '[]',
    '{"id":"a","type":"set","title":1,"config":{}}',
    '{"id":"b","type":"set","title":"","config":{}}',
    '{"id":"a","type":"set","title":"","config":[]}',
  ]) {
    assert.ok('fault' in readNodeText(text, 'a'), text)
  }
  const read = readNodeText('{\n  "id": ,\n}', 'a')
  assert.equal('line' in read && read.line, 2)
})

test('lists the issues of a node with relative paths', () => {
  const issues = [
    { path: ['blueprint_map', 'nodes', 1, 'config', 'url'], message: 'x' },
    { path: ['blueprint_map', 'nodes', 0], message: 'y' },
    { path: ['environment_variables', 0], message: 'z' },
    { path: ['config', 'url'], message: 'w' },
  ]
  const map = { nodes: [{ ...node, id: 'b' }, node] }
  assert.deepEqual(
    issuesOfNode(issues, map, 'a').map((issue) => `${issue.path.join('.')} ${issue.message}`),
    ['config.url x', 'config.url w'],
  )
})

test('reads the line of an error from the message of the run', () => {
  assert.deepEqual(codeErrorOf('TypeError: x is undefined (line 3, column 7)'), {
    line: 3,
    message: 'TypeError: x is undefined',
  })
  assert.equal(codeErrorOf('the script threw line 3'), undefined)
  assert.equal(codeErrorOf(undefined), undefined)
})

test('summarizes the behaviour of a node', () => {
  assert.equal(behaviourSummary(node), '')
  assert.equal(
    behaviourSummary({ ...node, disabled: true, retry: { maxAttempts: 3 }, timeoutMs: 5000 }),
    'disabled, 3 attempts, timeout 5 seconds',
  )
  const schema = behaviourSchema(
    { ...node, retry: { maxAttempts: 3, delayMs: 500 } },
    { effect: 'idempotent', waits: 'none' },
  )
  const members = Object.fromEntries(
    fieldOf(schema).properties!.map(({ key, schema: member }) => [key, fieldOf(member)]),
  )
  assert.match(members.retry!.description!, /^Waits 500 milliseconds, then 1 second between/)
  assert.match(members.effect!.choices![1]!.label, /default of this type/)
  assert.equal(members.timeoutMs!.kind, 'duration')
  assert.equal(
    fieldOf(behaviourSchema({ ...node, type: 'wait' }, { effect: 'pure', waits: 'time' })).properties!.some(
      ({ key }) => key === 'timeoutMs',
    ),
    false,
  )
})
