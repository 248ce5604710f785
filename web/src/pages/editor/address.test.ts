import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap } from '../../graph/map'
import { findPlace, placeText } from './address'
import { activeOf } from './use-follow'

const log = (id: string) => ({ id, type: 'log', title: id, config: {} })
const map: BlueprintMap = {
  nodes: [log('a/b'), { id: 'each', type: 'for-each', title: '', config: { nodes: [log('in')] } }],
}

test('stores the place in the map in the URL', () => {
  for (const place of [
    { level: [], nodeId: 'a/b' },
    { level: ['each'], nodeId: 'in' },
    { level: ['each'], nodeId: undefined },
  ]) {
    const found = findPlace(map, placeText(place.level, place.nodeId))
    assert.deepEqual([found.level, found.nodeId], [place.level, place.nodeId])
  }
  assert.equal(placeText([], undefined), '')
  for (const text of ['', 'gone', 'gone/in', 'a%2Fb/x', '%', '/']) assert.deepEqual(findPlace(map, text), { level: [] })
})

test('shows the waiting step of a run first', () => {
  assert.equal(activeOf(new Map(Object.entries({ a: 'completed', b: 'running', c: 'paused' }))), 'c')
  assert.equal(activeOf(new Map(Object.entries({ a: 'failed', b: 'running' }))), 'a')
  assert.equal(activeOf(new Map(Object.entries({ a: 'completed', b: 'completed', c: 'pending' }))), 'b')
  assert.equal(activeOf(new Map(Object.entries({ a: 'pending' }))), undefined)
})
