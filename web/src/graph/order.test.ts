import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MapNode } from './map'
import { chain, circle, flowOrder, route, upstream } from './order'

const node = (id: string): MapNode => ({ id, type: 'log', title: id, config: {} })
const edges = (...pairs: string[]) => pairs.map((pair) => ({ source: pair[0]!, target: pair[1]! }))

test('finds and names a cycle', () => {
  const of = edges('ab', 'bc', 'cd')
  assert.deepEqual(circle(of, 'd', 'b'), ['d', 'b', 'c', 'd'])
  assert.deepEqual(circle(of, 'a', 'a'), ['a', 'a'])
  assert.equal(circle(of, 'a', 'd'), undefined)
  assert.deepEqual(route(of, 'a', 'c'), ['a', 'b', 'c'])
})

test('walks each branch to its end', () => {
  const nodes = ['d', 'a', 'b', 'c', 'e'].map(node)
  assert.deepEqual(flowOrder({ nodes, edges: edges('ab', 'ac', 'be', 'ce', 'ed') }), ['a', 'b', 'c', 'e', 'd'])
  assert.deepEqual(flowOrder({ nodes }), ['d', 'a', 'b', 'c', 'e'])
  assert.deepEqual(
    flowOrder({ nodes, edges: edges('ab', 'bc', 'cb') }),
    ['d', 'a', 'e', 'b', 'c'],
    'a circle comes last',
  )
})

test('lists the ancestors of a node', () => {
  const nodes = ['a', 'b', 'c', 'd'].map(node)
  assert.deepEqual([...upstream({ nodes, edges: edges('ab', 'bc', 'ad') }, 'c')].sort(), ['a', 'b'])
  assert.deepEqual([...upstream({ nodes }, 'c')], ['a', 'b'])
})

test('handles very deep maps without overflow', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `n${index}`)
  const deep = chain(ids)
  assert.equal(circle(deep, ids.at(-1)!, ids[0]!)?.length, 10_001)
  assert.equal(flowOrder({ nodes: ids.map(node), edges: deep }).length, 10_000)
})
