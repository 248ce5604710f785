import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOfWire, toCards, toWires } from './flow'
import { connectable, handlesOf } from './handles'
import { type BlueprintMap, freeId, type MapNode, readMap } from './map'
import { summaryOf } from './looks'
import { firstView, showsAll, viewWith, zoomOfAll } from './view'

const node = (id: string, type = 'log', config: object = {}, more: object = {}): MapNode => ({
  id,
  type,
  title: id.toUpperCase(),
  config: config as MapNode['config'],
  position: { x: 0, y: 0 },
  ...more,
})

test('orders cards by the flow and keeps unchanged objects', () => {
  const map: BlueprintMap = {
    nodes: [node('b'), node('a')],
    edges: [
      { source: 'a', target: 'b' },
      { source: 'a', target: 'b' },
    ],
  }
  const cards = toCards(map)
  assert.deepEqual(
    cards.map((card) => card.id),
    ['a', 'b'],
  )
  const again = toCards({ ...map, nodes: [{ ...map.nodes[0]!, title: 'New' }, map.nodes[1]!] }, {}, cards)
  assert.equal(again[0], cards[0])
  assert.notEqual(again[1], cards[1])
  assert.match(
    toCards(map, {
      problems: new Map([['a', { errors: 2, warnings: 1, unfilled: 0 }]]),
      statuses: new Map([['a', 'failed']]),
    })[0]!.ariaLabel!,
    /A, log, failed, 2 errors, 1 warning/,
  )
  assert.equal(toCards(map, { statuses: new Map([['a', 'paused']]) })[0]!.ariaLabel, 'A, log, waiting for input')
})

test('gives duplicate edges distinct IDs, and draws the order when there are no edges', () => {
  const wires = toWires({
    nodes: [node('a'), node('b')],
    edges: [
      { source: 'a', target: 'b', sourceHandle: null },
      { source: 'a', target: 'b', sourceHandle: 'main' },
    ],
  })
  assert.notEqual(wires[0]!.id, wires[1]!.id)
  assert.equal(wires[0]!.ariaLabel, 'Edge from A to B')
  assert.equal(keyOfWire(wires[1]!.id), wires[0]!.id)
  const order = toWires({ nodes: [node('a'), node('b'), node('c')] })
  assert.deepEqual(
    order.map((wire) => [wire.source, wire.target, wire.data?.label]),
    [
      ['a', 'b', 'runs in order'],
      ['b', 'c', undefined],
    ],
  )
  assert.equal(order[1]!.ariaLabel, 'Runs in order: B, then C')
  const ways = toWires({
    nodes: [node('a', 'conditional'), node('b')],
    edges: [{ source: 'a', target: 'b', sourceHandle: 'true' }],
  })
  assert.equal(ways[0]!.ariaLabel, 'Edge from A, true to B')
  assert.deepEqual(
    toCards({ nodes: [node('a'), node('b')] }).map((card) => card.data.turn),
    [1, 2],
  )
})

test('lists the outputs of a node', () => {
  const ids = (of: MapNode, used: string[] = []) => handlesOf(of, used).map((handle) => handle.id)
  assert.deepEqual(ids(node('a')), ['main'])
  assert.deepEqual(ids(node('a', 'log', {}, { onError: 'branch' })), ['main', 'error'])
  assert.deepEqual(ids(node('a', 'approval_gate'), ['main']), ['approved', 'rejected', 'main'])
  assert.deepEqual(ids(node('a', 'switch', { cases: [{ handle: 'x' }, { handle: 'x' }, { handle: '' }, 1] })), [
    'x',
    'default',
  ])
  assert.ok(handlesOf(node('a', 'conditional'), ['odd']).at(-1)!.dead)
  assert.deepEqual(
    connectable(node('a', 'conditional'), ['odd']).map((handle) => handle.id),
    ['true', 'false', 'main'],
  )
})

test('reads stored maps and leaves out invalid parts', () => {
  const map = { nodes: [node('a', 'log', {}, { colour: 'red' })], edges: [], note: 1 }
  assert.deepEqual(readMap(map), map)
  assert.equal(readMap(map).nodes[0], map.nodes[0])
  assert.deepEqual(readMap(null), { nodes: [] })
  assert.deepEqual(readMap({ nodes: [{ id: 'a' }, 1], edges: [{ source: 'a', target: 'gone' }] }), {
    nodes: [{ id: 'a', type: '', title: '', config: {} }],
    edges: [],
  })
  assert.equal(freeId('a', new Set(['a', 'a_2'])), 'a_3')
})

test('summarizes a node in one line', () => {
  const cases: [string, object, string][] = [
    ['http-request', { url: 'https://x.ch/{{id}}' }, 'GET https://x.ch/{{id}}'],
    ['wait', { durationMs: 90_000 }, '90 s'],
    ['wait', { durationMs: 7_200_000 }, '2 h'],
    ['code', { source: 'const a = 1\n  return a' }, 'const a = 1 return a'],
    ['for-each', { items: 'input', nodes: [1] }, 'input: 1 node'],
    ['own-type', { n: 1, text: 'hello' }, 'hello'],
    ['log', {}, ''],
  ]
  for (const [type, config, want] of cases) assert.equal(summaryOf(node('a', type, config)), want)
})

test('fits the first view to everything, or to the beginning', () => {
  const wide: BlueprintMap = { nodes: [node('a'), node('b', 'log', {}, { position: { x: 5000, y: 0 } })] }
  assert.equal(firstView({ nodes: [node('a')] }, 800, 600).zoom, 1)
  assert.ok(firstView(wide, 800, 600).zoom >= 0.55)
  assert.equal(firstView(wide, 360, 600).x, 14)
  assert.deepEqual(firstView({ nodes: [] }, 800, 600), { x: 0, y: 0, zoom: 1 })
})

test('decides whether everything fits beside the overlays', () => {
  const room = { top: 50, bottom: 60, left: 20, right: 20 }
  const map: BlueprintMap = { nodes: [node('a'), node('b', 'log', {}, { position: { x: 536, y: 0 } })] }
  assert.equal(zoomOfAll(map, 420, 600, room), 0.5)
  assert.equal(zoomOfAll(map, 2000, 600, room), 1)
  assert.equal(zoomOfAll({ nodes: [] }, 10, 10, room), 1)
  assert.equal(showsAll(map, { x: 20, y: 60, zoom: 0.5 }, 420, 300, room), true)
  assert.equal(showsAll(map, { x: 20, y: 40, zoom: 0.5 }, 420, 300, room), false)
  assert.equal(showsAll(map, { x: 30, y: 60, zoom: 0.5 }, 420, 300, room), false)
})

test('starts a phone with the first two nodes fully visible', () => {
  const row: BlueprintMap = {
    nodes: [0, 1, 2, 3].map((index) => node(`n${index}`, 'log', {}, { position: { x: index * 320, y: 40 } })),
  }
  const { x, zoom } = firstView(row, 360, 500)
  assert.ok(x >= 0 && zoom >= 0.55)
  assert.ok((320 + 224) * zoom + x <= 360)
})

test('scrolls to a node by the shortest way', () => {
  const room = { top: 20, bottom: 20, left: 30, right: 30 }
  const row: BlueprintMap = {
    nodes: [0, 1, 2, 3, 4, 5, 6].map((index) => node(`n${index}`, 'log', {}, { position: { x: index * 320, y: 0 } })),
  }
  const start = { x: 40, y: 200, zoom: 1 }
  assert.deepEqual(viewWith(row, 'n0', start, 600, 400, room), start, 'what is seen stays')
  assert.deepEqual(viewWith(row, 'n1', start, 600, 400, room), { x: 600 - 30 - 544 - 48, y: 200, zoom: 1 })
  assert.deepEqual(viewWith(row, 'n0', { ...start, x: -500 }, 600, 400, room), { x: 30, y: 200, zoom: 1 })
  const two = { ...row, nodes: row.nodes.slice(0, 2) }
  const fitted = viewWith(two, 'n1', start, 500, 400, room, true)
  assert.ok(fitted.zoom < 1 && showsAll(two, fitted, 500, 400, room), 'everything, a little smaller')
  const { zoom, x } = viewWith(row, 'n6', { ...start, x: -1400 }, 620, 400, room, true)
  assert.equal(zoom, 1)
  assert.ok(5 * 320 + x >= 30 && 6 * 320 + 224 + x <= 590, 'with the one before it')
})
