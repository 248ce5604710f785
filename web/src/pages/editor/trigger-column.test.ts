import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MapNode } from '../../graph/map'
import { CARD, columnOf, startsOf, wiresOf } from './trigger-column'

const node = (id: string, x: number, y: number): MapNode => ({
  id,
  type: 'set',
  title: id,
  config: {},
  position: { x, y },
})

test('places triggers left of all nodes and level with those that run first', () => {
  const map = {
    nodes: [node('a', 96, 0), node('b', 400, 0), node('c', 96, 200)],
    edges: [{ source: 'a', target: 'b' }],
  }
  const column = columnOf(map, 2, true)!
  assert.ok(column.bounds.right < 96)
  assert.equal(column.cards.length, 2)
  const middle = (column.cards[0]!.y + column.cards[1]!.y + CARD.height) / 2
  assert.equal(middle, (30 + 230) / 2, 'between the two nodes without incoming edges')
  assert.ok(column.add!.y >= column.cards[1]!.y + CARD.height)
  assert.equal(column.bounds.bottom, column.add!.y + 40)
})

test('has a place for the first trigger of a blueprint without nodes', () => {
  assert.ok(columnOf({ nodes: [] }, 0, true)!.add)
  assert.equal(columnOf({ nodes: [] }, 0, false), undefined)
})

test('a trigger starts the first node of a sequence, and each node of a graph without incoming edges', () => {
  const nodes = [node('a', 0, 0), node('b', 0, 0), node('c', 0, 0)]
  assert.deepEqual(startsOf({ nodes }), ['a'])
  const map = { nodes, edges: [{ source: 'b', target: 'c' }] }
  assert.deepEqual(startsOf(map), ['a', 'b'])
  assert.deepEqual(wiresOf(map, ['t']), [
    { source: 't', target: 'a' },
    { source: 't', target: 'b' },
  ])
  assert.equal(
    wiresOf(
      map,
      Array.from({ length: 100 }, (_, index) => `t${index}`),
    ).length,
    60,
  )
})
