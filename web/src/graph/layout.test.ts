import assert from 'node:assert/strict'
import { test } from 'node:test'
import { behind, freePlace, layout, placed } from './layout'
import type { BlueprintMap, MapNode } from './map'
import { WIDTH } from './sizes'

const node = (id: string, more: object = {}): MapNode => ({ id, type: 'log', title: id, config: {}, ...more })
const at = (map: BlueprintMap, id: string) => map.nodes.find((each) => each.id === id)!.position!

test('lays out from left to right with branches below each other', () => {
  const map = layout({
    nodes: ['a', 'b', 'c', 'd'].map((id) => node(id)),
    edges: [
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'd'],
      ['c', 'd'],
    ].map(([source, target]) => ({ source: source!, target: target! })),
  })
  assert.ok(at(map, 'a').x < at(map, 'b').x && at(map, 'b').x < at(map, 'd').x)
  assert.equal(at(map, 'b').x, at(map, 'c').x)
  assert.notEqual(at(map, 'b').y, at(map, 'c').y)
})

test('puts nodes without edges in a row', () => {
  const map = layout({ nodes: [node('a'), node('b'), node('c')] })
  assert.deepEqual(
    map.nodes.map((each) => each.position!.y),
    [0, 0, 0],
  )
  assert.ok(at(map, 'a').x + WIDTH < at(map, 'b').x && at(map, 'b').x + WIDTH < at(map, 'c').x)
})

test('keeps existing positions and finds free ones for the rest', () => {
  const map: BlueprintMap = {
    nodes: [node('a', { position: { x: 0, y: 0 } }), node('b', { position: { x: 312, y: 0 } }), node('c')],
    edges: [
      { source: 'a', target: 'b' },
      { source: 'a', target: 'c' },
    ],
    colour: 'red',
  }
  const full = placed(map)
  assert.deepEqual(at(full, 'b'), { x: 312, y: 0 })
  assert.equal(at(full, 'c').x, 312)
  assert.ok(at(full, 'c').y >= 60)
  assert.equal(full.colour, 'red')
  assert.equal(placed(full), full, 'nothing missing, nothing made')
})

test('avoids occupied positions behind a node', () => {
  const map: BlueprintMap = {
    nodes: [
      node('a', { position: { x: 0, y: 0 } }),
      node('b', { position: behind(node('a', { position: { x: 0, y: 0 } })) }),
    ],
  }
  const free = freePlace(map, behind(map.nodes[0]!), 60)
  assert.equal(free.x, at(map, 'b').x)
  assert.ok(free.y > 60)
})

test('lays out thousands of nodes at once', () => {
  const ids = Array.from({ length: 5000 }, (_, index) => `n${index}`)
  const map = layout({
    nodes: ids.map((id) => node(id)),
    edges: ids.slice(1).map((target, index) => ({ source: ids[Math.floor(index / 2)]!, target })),
  })
  const places = new Set(map.nodes.map((each) => `${each.position!.x},${each.position!.y}`))
  assert.equal(places.size, ids.length)
})

test('lays out nodes with the names of members of every object', () => {
  const ids = ['constructor', '__proto__', 'toString', 'valueOf']
  const map = layout({
    nodes: ids.map((id) => node(id)),
    edges: ids.slice(1).map((target) => ({ source: ids[0]!, target })),
  })
  assert.equal(new Set(map.nodes.map((each) => `${each.position!.x},${each.position!.y}`)).size, ids.length)
})
