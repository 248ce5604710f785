import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MapNode } from '../../graph/map'
import { actingNodes } from './acting'

const node = (id: string, type: string, more: Partial<MapNode> = {}): MapNode => ({
  id,
  type,
  title: id,
  config: {},
  ...more,
})
const types = [
  { type: 'http', effect: 'idempotent' as const },
  { type: 'template', effect: 'pure' as const },
  { type: 'for-each', effect: 'pure' as const },
  { type: 'blueprint', effect: 'pure' as const },
]
const ids = (...nodes: MapNode[]) => actingNodes({ nodes }, types).map(({ id }) => id)

test('finds the nodes that act, not those that are disabled', () => {
  assert.deepEqual(ids(node('a', 'http'), node('b', 'template'), node('c', 'http', { disabled: true })), ['a'])
  assert.deepEqual(ids(node('a', 'http', { effect: 'pure' }), node('b', 'template', { effect: 'once' })), ['b'])
})

test('finds those in a for-each, at any depth', () => {
  const inner = node('inner', 'for_each', { config: { nodes: [node('say', 'template'), node('send', 'http')] } })
  assert.deepEqual(ids(node('outer', 'for-each', { config: { nodes: [inner] } })), ['send'])
  assert.deepEqual(ids(node('outer', 'for-each', { config: { nodes: [inner] }, disabled: true })), [])
})

test('another blueprint counts as acting', () => {
  const each = node('each', 'for-each', { config: { blueprintId: 'b1' } })
  assert.deepEqual(ids(node('call', 'blueprint'), each), ['call', 'each'])
})
