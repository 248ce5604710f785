import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphOf } from './run-graph'
import type { Step } from './types'

const step = (nodeId: string, status: Step['status'] = 'completed') => ({ nodeId, status }) as Step
const map = { nodes: [{ id: 'a' }, { id: 'loop' }] }

test('the nodes of the map get the statuses of their steps', () => {
  const graph = graphOf(map, [step('a'), step('loop', 'running'), step('loop[0]/x', 'failed')])
  assert.deepEqual(graph?.statuses, { a: 'completed', loop: 'running' })
})

test('a step within a loop marks the loop', () => {
  const graph = graphOf(map, [step('a'), step('loop'), step('loop[0]/x')])
  assert.deepEqual(
    ['a', 'loop[0]/x', 'loop[0]', 'loop[1]/y[2]/z', 'gone', ''].map((address) => graph?.selectedOf(address)),
    ['a', 'loop', 'loop', 'loop', undefined, undefined],
  )
})

test('a run of other nodes is not drawn on the stored map', () => {
  assert.equal(graphOf(map, [step('a')]), null)
  assert.equal(graphOf(map, [step('a'), step('b')]), null)
  assert.equal(graphOf(undefined, [step('a')]), null)
  assert.equal(graphOf({ nodes: [] }, []), null)
})
