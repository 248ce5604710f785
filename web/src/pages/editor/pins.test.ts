import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPins, showPins, withPins } from './pins'

const run = {
  id: 'r',
  steps: [
    { nodeId: 'a', status: 'failed', error: { message: 'no' } },
    { nodeId: 'b', status: 'completed', output: 2 },
  ],
}

test('a pinned output stands in for that of the run', () => {
  assert.deepEqual(withPins(run, { a: 1, c: null })?.steps, [
    { nodeId: 'a', status: 'completed', output: 1, error: undefined },
    { nodeId: 'b', status: 'completed', output: 2 },
    { nodeId: 'c', status: 'completed', output: null },
  ])
  assert.deepEqual(withPins(undefined, { a: 1 })?.steps.length, 1, 'also without a run')
  assert.equal(withPins(run, {}), run)
})

test('stores pins as text', () => {
  assert.deepEqual(readPins(showPins({ a: { n: 1 } })!), { a: { n: 1 } })
  assert.equal(showPins({}), undefined)
  for (const text of [null, 'nonsense', '[1]', '3']) assert.deepEqual(readPins(text), {})
})
