import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap, MapNode } from '../../graph/map'
import { locate, mapAt, placedAll, withMapAt } from './nested'
import {
  addNode,
  connect,
  connectInOrder,
  connectProblem,
  insertInEdge,
  newNode,
  nudge,
  reconnect,
  reconnectProblem,
  remove,
  reorder,
  toggleDisabled,
} from './operations'

const node = (id: string, type = 'log', config: object = {}): MapNode => ({
  id,
  type,
  title: id,
  config: config as MapNode['config'],
  position: { x: 0, y: 0 },
})
const ids = (map: BlueprintMap) => map.nodes.map((each) => each.id)
const line: BlueprintMap = { nodes: [node('a'), node('b')], colour: 1 }
const graph: BlueprintMap = {
  nodes: [node('if', 'conditional'), node('b'), node('c')],
  edges: [
    { source: 'if', target: 'b', sourceHandle: 'true' },
    { source: 'b', target: 'c' },
  ],
}

test('adds a node after another', () => {
  const fresh = newNode(line, { type: 'http-request', title: 'HTTP request', starter: { method: 'GET', url: '' } })
  assert.equal(fresh.id, 'http_request')
  assert.deepEqual(fresh.config, { method: 'GET', url: '' })
  assert.deepEqual(ids(addNode(line, fresh, 'a')), ['a', 'http_request', 'b'])
  assert.equal(addNode(line, fresh, 'a').edges, undefined)
  assert.deepEqual(
    addNode(graph, fresh, 'if').edges?.at(-1),
    { source: 'if', target: 'http_request', sourceHandle: 'false' },
    'by the way that leads nowhere yet',
  )
  assert.equal(addNode(graph, fresh).edges?.length, 2)
  assert.equal(newNode(addNode(line, fresh), { type: 'http-request', title: '', starter: {} }).id, 'http_request_2')
})

test('makes room for a node before later ones', () => {
  const row: BlueprintMap = {
    nodes: [
      { ...node('a'), position: { x: 0, y: 0 } },
      { ...node('b'), position: { x: 312, y: 0 } },
      { ...node('c'), position: { x: 624, y: 0 } },
    ],
  }
  const xs = (map: BlueprintMap) => map.nodes.map((each) => [each.id, each.position!.x])
  assert.deepEqual(xs(addNode(row, node('x'), 'a')), [
    ['a', 0],
    ['x', 312],
    ['b', 624],
    ['c', 936],
  ])
  const joined = connect(row, 'b', 'main', 'c')
  assert.deepEqual(xs(insertInEdge(joined, '["b","main","c"]', node('x'))), [
    ['a', 0],
    ['b', 312],
    ['c', 936],
    ['x', 624],
  ])
})

test('decides which nodes can be connected', () => {
  assert.match(connectProblem(graph, 'c', 'main', 'if')!, /cycle.*c → if → b → c/)
  assert.match(connectProblem(graph, 'b', 'main', 'b')!, /itself/)
  assert.match(connectProblem(graph, 'b', 'main', 'c')!, /already/)
  assert.equal(connectProblem(graph, 'if', 'false', 'c'), undefined)
  assert.deepEqual(connect(graph, 'if', 'main', 'c').edges?.at(-1), { source: 'if', target: 'c' })
})

test('moves an edge to other ends', () => {
  const key = '["if","true","b"]'
  assert.equal(reconnectProblem(graph, key, 'if', 'true', 'b'), undefined)
  assert.match(reconnectProblem(graph, key, 'b', 'main', 'c')!, /already/)
  assert.match(reconnectProblem(graph, '["b","main","c"]', 'b', 'main', 'if')!, /cycle/)
  assert.deepEqual(
    reconnect({ ...graph, edges: [{ ...graph.edges![0]!, label: 'kept' }] }, key, 'b', 'main', 'c').edges,
    [{ source: 'b', target: 'c', label: 'kept' }],
  )
  assert.equal(reconnect(graph, key, 'if', 'true', 'b'), graph)
})

test('adds the first edge to a sequence', () => {
  const three = { nodes: [...line.nodes, node('c')] }
  const kept = (map: BlueprintMap, source: string, handle: string, target: string, inLoop = false) => {
    const made = connectInOrder(map, source, handle, target, inLoop)
    return made && 'map' in made ? made.map : made
  }
  assert.deepEqual(kept(three, 'a', 'main', 'c'), {
    ...three,
    edges: [
      { source: 'a', target: 'b' },
      { source: 'b', target: 'c' },
      { source: 'a', target: 'c' },
    ],
  })
  assert.equal((kept(three, 'a', 'main', 'b') as BlueprintMap).edges?.length, 2)
  assert.equal(kept(three, 'c', 'main', 'a'), undefined, 'against the order')
  const gated = { nodes: [node('ask', 'approval_gate'), node('b'), node('c')] }
  assert.match((kept(gated, 'b', 'main', 'c', true) as { problem: string }).problem, /rejection/)
  assert.deepEqual(
    (kept(gated, 'ask', 'rejected', 'c') as BlueprintMap).nodes,
    gated.nodes,
    'the edge says where a rejection leads',
  )
})

test('removes, moves and disables', () => {
  assert.deepEqual(remove(graph, new Set(['b'])).edges, [])
  assert.deepEqual(remove(graph, new Set(), new Set(['["b","main","c"]'])).edges?.length, 1)
  assert.deepEqual(remove(line, new Set(['a'])), { nodes: [line.nodes[1]], colour: 1 })
  assert.deepEqual(nudge(line, new Set(['a']), 8, 0).nodes[0]!.position, { x: 8, y: 0 })
  assert.equal(nudge(line, new Set(['zz']), 8, 0), line)
  assert.deepEqual(ids(reorder(line, 'a', 1)), ['b', 'a'])
  assert.equal(reorder(line, 'a', -1), line)
  const off = toggleDisabled(line, new Set(['a']))
  assert.equal(off.nodes[0]!.disabled, true)
  assert.equal('disabled' in toggleDisabled(off, new Set(['a'])).nodes[0]!, false)
})

test('inserts a node into an edge', () => {
  const map = insertInEdge(graph, '["if","true","b"]', node('x'))
  assert.deepEqual(map.edges, [
    { source: 'if', target: 'x', sourceHandle: 'true' },
    { source: 'x', target: 'b' },
    { source: 'b', target: 'c' },
  ])
})

test('edits the bodies of for-each nodes', () => {
  const inner = node('inner', 'for-each', { items: '[]', nodes: [node('leaf')], edges: [], extra: true })
  const map: BlueprintMap = {
    nodes: [node('first'), node('loop', 'for-each', { items: 'input', nodes: [node('x'), inner] })],
  }
  assert.deepEqual(ids(mapAt(map, ['loop', 'inner'])!), ['leaf'])
  assert.equal(mapAt(map, ['first']), undefined)
  assert.equal(mapAt(map, ['gone']), undefined)
  const after = withMapAt(map, ['loop', 'inner'], {
    nodes: [node('leaf'), node('more')],
    edges: [{ source: 'leaf', target: 'more' }],
  })
  assert.deepEqual(ids(mapAt(after, ['loop', 'inner'])!), ['leaf', 'more'])
  const config = (after.nodes[1]!.config.nodes as MapNode[])[1]!.config
  assert.equal(config.extra, true)
  assert.equal((config.edges as unknown[]).length, 1)
  assert.equal(after.nodes[0], map.nodes[0])
  assert.deepEqual(locate(map, ['nodes', 1, 'config', 'nodes', 1, 'config', 'items']), {
    level: ['loop'],
    nodeId: 'inner',
    field: ['config', 'items'],
  })
  assert.deepEqual(locate(map, ['nodes', 0, 'config', 'message']), {
    level: [],
    nodeId: 'first',
    field: ['config', 'message'],
  })
  assert.deepEqual(locate(graph, ['edges', 1, 'sourceHandle']), { level: [], edge: 1, field: ['sourceHandle'] })
  assert.deepEqual(locate(map, ['nodes']), { level: [], nodeId: undefined, field: ['nodes'] })
})

test('positions nodes in bodies', () => {
  const map: BlueprintMap = {
    nodes: [
      node('loop', 'for-each', {
        items: 'input',
        nodes: [
          { id: 'x', type: 'log', title: 'X', config: {} },
          { id: 'y', type: 'log', title: 'Y', config: {} },
        ],
      }),
    ],
  }
  const inner = mapAt(placedAll(map), ['loop'])!.nodes
  assert.notDeepEqual(inner[0]!.position, inner[1]!.position)
  assert.equal(placedAll({ nodes: [node('a')] }).nodes[0]!.id, 'a')
})
