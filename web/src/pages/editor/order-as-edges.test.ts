import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap, MapNode } from '../../graph/map'
import { orderAsEdges } from './order-as-edges'

// testdata/e2e/order-as-edges.test.mjs tests with the real engine that both forms run alike.

const node = (id: string, type = 'log', more: Partial<MapNode> = {}): MapNode => ({
  id,
  type,
  title: id,
  config: {},
  ...more,
})
const edges = (...nodes: MapNode[]) => {
  const made = orderAsEdges({ nodes })
  assert.ok('map' in made)
  return {
    edges: made.map.edges!.map((edge) => `${edge.source} ${edge.sourceHandle ?? 'main'} ${edge.target}`),
    nodes: made.map.nodes,
    notes: made.notes,
  }
}

test('connects conditions and approvals by the output that continues', () => {
  const {
    edges: found,
    nodes,
    notes,
  } = edges(node('a'), node('if', 'conditional'), node('ask', 'approval_gate'), node('pick', 'switch'), node('b'))
  assert.deepEqual(found, ['a main if', 'if true ask', 'ask approved pick', 'ask rejected rejected', 'pick main b'])
  assert.deepEqual([nodes.at(-1)!.type, nodes.at(-1)!.config.failed, notes.length], ['stop', true, 1])
})

test('ends at the last node', () => {
  assert.deepEqual(edges(node('a'), node('if', 'conditional', { onError: 'continue' })).edges, ['a main if'])
  assert.deepEqual(edges(node('rejected'), node('ask', 'approval-gate')).edges, [
    'rejected main ask',
    'ask rejected rejected_2',
  ])
})

test('continues after a failure that the run survives', () => {
  const { edges: found, nodes } = edges(
    node('if', 'conditional', { onError: 'continue' }),
    node('b', 'log', { onError: 'continue' }),
    node('c'),
  )
  assert.deepEqual(found, ['if true b', 'if error b', 'b main c'])
  assert.deepEqual(
    nodes.map((each) => each.onError),
    ['branch', 'continue', undefined],
  )
})

test('passes through disabled nodes', () => {
  const { edges: found, notes } = edges(node('if', 'conditional', { disabled: true }), node('b'))
  assert.deepEqual(found, ['if main b'])
  assert.match(notes[0]!, /disabled/)
})

test('refuses orders that edges cannot express, and maps that have edges', () => {
  assert.match(
    (orderAsEdges({ nodes: [node('ask', 'approval-gate'), node('b')] }, true) as { problem: string }).problem,
    /for-each/,
  )
  const graph: BlueprintMap = { nodes: [node('a'), node('b')], edges: [{ source: 'b', target: 'a' }] }
  assert.deepEqual(orderAsEdges(graph), { map: graph, notes: [] })
})
