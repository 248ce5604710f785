import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap, MapNode } from '../../graph/map'
import { locate, mapAt, placedAll, withMapAt } from './nested'
import {
  addAtHandle,
  addBefore,
  addNode,
  connect,
  connectInOrder,
  connectProblem,
  cutOrder,
  insertBefore,
  insertInEdge,
  isLoose,
  moveAfter,
  newNode,
  nudge,
  reconnect,
  reconnectProblem,
  remove,
  reorder,
  splitEdge,
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
    return 'map' in made ? made.map : made
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
  assert.deepEqual(
    kept(three, 'c', 'main', 'a'),
    {
      nodes: [three.nodes[2], three.nodes[0], three.nodes[1]],
      edges: [
        { source: 'c', target: 'a' },
        { source: 'a', target: 'b' },
      ],
    },
    'against the order',
  )
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

const say = (made: ReturnType<typeof addAtHandle>) => {
  assert.ok('map' in made, 'problem' in made ? made.problem : '')
  const edges = made.map.edges?.map((each) => `${each.source} ${each.sourceHandle ?? 'main'} ${each.target}`)
  return { ids: ids(made.map), edges, notes: made.notes.length }
}

test('draws the second node of a map behind the first', () => {
  assert.deepEqual(say(addAtHandle({ nodes: [node('a')] }, node('b'), 'a', 'main', false)), {
    ids: ['a', 'b'],
    edges: ['a main b'],
    notes: 0,
  })
  const gate = addAtHandle({ nodes: [node('ask', 'approval-gate')] }, node('b'), 'ask', 'approved', false)
  assert.deepEqual(say(gate), { ids: ['ask', 'b'], edges: undefined, notes: 0 }, 'a rejection still fails the run')
})

test('keeps the order of a sequence when a node is added at a handle', () => {
  const three = { nodes: [node('a'), node('if', 'conditional'), node('c')] }
  assert.deepEqual(say(addAtHandle(three, node('new'), 'if', 'true', false)).ids, ['a', 'if', 'new', 'c'])
  assert.deepEqual(say(addAtHandle(three, node('new'), 'if', 'false', false)), {
    ids: ['a', 'if', 'c', 'new'],
    edges: ['a main if', 'if true c', 'if false new'],
    notes: 0,
  })
  const body = { nodes: [node('ask', 'approval-gate'), node('b')] }
  assert.match((addAtHandle(body, node('new'), 'b', 'error', true) as { problem: string }).problem, /for-each/)
})

test('adds a node at a handle of a graph, and before a node', () => {
  const made = addAtHandle(graph, node('new'), 'if', 'false', false)
  assert.deepEqual(say(made).edges?.at(-1), 'if false new')
  assert.deepEqual(addBefore(graph, node('new'), 'c', false, { x: 1, y: 9 }).edges?.at(-1), {
    source: 'new',
    target: 'c',
  })
  assert.deepEqual(addBefore(graph, node('new'), 'c', false, { x: 1, y: 9 }).nodes.at(-1)!.position, { x: 0, y: 8 })
  assert.deepEqual(
    ids(addBefore({ nodes: [node('a'), node('b'), node('c')] }, node('new'), 'b', false, { x: 0, y: 0 })),
    ['a', 'new', 'b', 'c'],
  )
})

test('puts a node without edges into an edge', () => {
  const map = { ...graph, nodes: [...graph.nodes, node('loose')] }
  assert.deepEqual(
    [isLoose(map, 'loose'), isLoose(map, 'b'), isLoose({ nodes: map.nodes }, 'loose')],
    [true, false, false],
  )
  assert.deepEqual(splitEdge(map, JSON.stringify(['if', 'true', 'b']), 'loose').edges, [
    { source: 'if', target: 'loose', sourceHandle: 'true' },
    { source: 'loose', target: 'b' },
    { source: 'b', target: 'c' },
  ])
})

test('keeps the drawn order when the last edge is deleted', () => {
  const map = { nodes: [node('b'), node('a')], edges: [{ source: 'a', target: 'b' }] }
  assert.deepEqual(ids(remove(map, new Set(), new Set([JSON.stringify(['a', 'main', 'b'])]))), ['a', 'b'])
})

test('inserts a node before another one, between it and what leads to it', () => {
  const arrows = (map: BlueprintMap) =>
    (map.edges ?? []).map((each) => `${each.source} ${each.sourceHandle ?? 'main'} ${each.target}`)
  const one = insertBefore(graph, node('x'), 'c', false)
  assert.deepEqual(arrows(one), ['if true b', 'b main x', 'x main c'])
  const both: BlueprintMap = {
    ...graph,
    edges: [...graph.edges!, { source: 'if', target: 'c', sourceHandle: 'false' }],
  }
  assert.deepEqual(arrows(insertBefore(both, node('x'), 'c', false)), [
    'if true b',
    'b main x',
    'if false x',
    'x main c',
  ])
  const first = insertBefore(graph, node('x'), 'if', false)
  assert.deepEqual(arrows(first), ['if true b', 'b main c', 'x main if'])
  const at = (id: string) => first.nodes.find((each) => each.id === id)!.position as { x: number }
  assert.ok(at('x').x < at('if').x, 'it stands left of what it leads to')
  const row: BlueprintMap = { nodes: [node('a'), node('b'), node('c')] }
  assert.deepEqual(ids(insertBefore(row, node('x'), 'a', false)), ['x', 'a', 'b', 'c'])
  assert.deepEqual(ids(insertBefore(row, node('x'), 'c', false)), ['a', 'b', 'x', 'c'])
})

test('cuts the order of a sequence, which becomes edges', () => {
  const row: BlueprintMap = { nodes: [node('a'), node('check', 'conditional'), node('b'), node('c')] }
  const cut = cutOrder(row, new Set([JSON.stringify(['b', 'main', 'c'])]), false)
  assert.ok('map' in cut)
  assert.deepEqual(
    cut.map.edges!.map((each) => [each.source, each.sourceHandle, each.target]),
    [
      ['a', undefined, 'check'],
      ['check', 'true', 'b'],
    ],
  )
  const two = cutOrder(line, new Set([JSON.stringify(['a', 'main', 'b'])]), false)
  assert.match('problem' in two ? two.problem : '', /^Without any edge/)
})

test('moves a node of a sequence behind another one', () => {
  const row: BlueprintMap = { nodes: [node('a'), node('b'), node('c')] }
  assert.deepEqual(ids(moveAfter(row, 'c', 'a')), ['a', 'c', 'b'])
  assert.deepEqual(ids(moveAfter(row, 'a', 'c')), ['b', 'c', 'a'])
  assert.equal(moveAfter(row, 'a', 'a'), row)
})
