import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusesAt } from './run-statuses'

const steps = [
  { nodeId: 'a', status: 'completed' },
  { nodeId: 'loop', status: 'running' },
  { nodeId: 'loop[0]/x', status: 'completed' },
  { nodeId: 'loop[1]/x', status: 'failed' },
  { nodeId: 'loop[1]/in', status: 'pending' },
  { nodeId: 'loop[1]/in[3]/y', status: 'skipped' },
]

test('reads the statuses of each level', () => {
  assert.equal(statusesAt(steps, []).get('loop'), 'running')
  const inLoop = statusesAt(steps, ['loop'])
  assert.deepEqual([inLoop.get('x'), inLoop.get('in')], ['failed', 'pending'])
  assert.deepEqual([...statusesAt(steps, ['loop', 'in'])], [['y', 'skipped']])
  assert.deepEqual([...statusesAt(steps, ['lo.p'])], [])
})

test('reads the status of a node of any name', () => {
  assert.deepEqual([...statusesAt([{ nodeId: 'constructor', status: 'failed' }], [])], [['constructor', 'failed']])
})
