import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap, MapNode } from '../../graph/map'
import { align, distribute } from './arrange'

const node = (id: string, x: number, y: number): MapNode => ({
  id,
  type: 'log',
  title: id,
  config: {},
  position: { x, y },
})
const places = (map: BlueprintMap) => map.nodes.map(({ position }) => [position!.x, position!.y])
const map = { nodes: [node('a', 0, 40), node('b', 800, 0), node('c', 304, 80), node('d', 5, 5)] }
const three = new Set(['a', 'b', 'c'])

test('aligns the chosen nodes', () => {
  assert.deepEqual(places(align(map, three, 'top')), [
    [0, 0],
    [800, 0],
    [304, 0],
    [5, 5],
  ])
  assert.deepEqual(places(align(map, three, 'left')), [
    [0, 40],
    [0, 0],
    [0, 80],
    [5, 5],
  ])
})

test('distributes the chosen nodes between the outer ones', () => {
  assert.deepEqual(places(distribute(map, three, 'x')), [
    [0, 40],
    [800, 0],
    [400, 80],
    [5, 5],
  ])
  assert.equal(distribute(map, new Set(['a', 'b']), 'x'), map, 'two have nothing between them')
})
