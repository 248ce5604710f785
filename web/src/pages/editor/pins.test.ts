import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pinsAfter, readPins, showPins, withPins } from './pins'

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

test('follow a node that gets another id, and end with it', () => {
  const node = (id: string, text = id) => ({ id, type: 'template', title: '', config: { text } })
  const pins = { a: 1, b: 2 }
  const map = { nodes: [node('a'), node('b')] }
  assert.equal(pinsAfter(pins, map, { nodes: [node('b'), node('a', 'changed'), node('c')] }), pins)
  assert.deepEqual(pinsAfter(pins, map, { nodes: [node('c', 'a'), node('b')] }), { b: 2, c: 1 })
  assert.deepEqual(pinsAfter(pins, map, { nodes: [node('b')] }), { b: 2 })
  assert.deepEqual(
    pinsAfter(pins, map, { nodes: [node('b'), node('c')] }),
    { b: 2 },
    'another node is not the renamed one',
  )
})
