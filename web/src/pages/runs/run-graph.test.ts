import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphOf } from './run-graph'
import type { Step } from './types'

const step = (nodeId: string, status: Step['status'] = 'completed') => ({ nodeId, status }) as Step
const map = { nodes: [{ id: 'a' }, { id: 'loop' }] }

test('shows the statuses of steps on the nodes of the map', () => {
  const graph = graphOf(map, [step('a'), step('loop', 'running'), step('loop[0]/x', 'failed')])
  assert.deepEqual(Object.fromEntries(graph!.statuses), { a: 'completed', loop: 'running' })
})

test('marks the loop of a step inside it', () => {
  const graph = graphOf(map, [step('a'), step('loop'), step('loop[0]/x')])
  assert.deepEqual(
    ['a', 'loop[0]/x', 'loop[0]', 'loop[1]/y[2]/z', 'gone', ''].map((address) => graph?.selectedOf(address)),
    ['a', 'loop', 'loop', 'loop', undefined, undefined],
  )
})

test('knows whether the map has notes or groups, which need room', () => {
  const marked = (more: object) => graphOf({ ...map, ...more }, [step('a'), step('loop')])?.marked
  assert.equal(marked({}), false)
  assert.equal(marked({ notes: [{ id: 'n', text: 'x', position: { x: 0, y: 0 } }] }), true)
  assert.equal(marked({ groups: [{ id: 'g', title: 'G', nodes: ['a'] }] }), true)
  assert.equal(marked({ notes: [], groups: [{ id: 'g', title: 'G', nodes: ['gone'] }] }), false)
})

test('does not draw a run of other nodes on the stored map', () => {
  assert.equal(graphOf(map, [step('a')]), null)
  assert.equal(graphOf(map, [step('a'), step('b')]), null)
  assert.equal(graphOf(undefined, [step('a')]), null)
  assert.equal(graphOf({ nodes: [] }, []), null)
})
