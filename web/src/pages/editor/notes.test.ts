import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap, MapNode } from '../../graph/map'
import { frameOf, groupsOf, notesOf } from '../../graph/notes'
import { addNote, group, renamedInGroups, setGroup, setNote, withoutNodes } from './notes'

const node = (id: string, x = 0): MapNode => ({ id, type: 'log', title: id, config: {}, position: { x, y: 0 } })
const map: BlueprintMap = { nodes: [node('a'), node('b', 320)], colour: 1 }

test('adds, changes and removes notes, and keeps the rest of the map', () => {
  const { map: one, id } = addNote(map, { x: 3, y: 9 })
  assert.deepEqual(notesOf(one), [{ id, text: '', position: { x: 0, y: 8 }, size: { width: 240, height: 120 } }])
  const { map: two, id: second } = addNote(setNote(one, id, { text: 'why', kept: 1 }), { x: 0, y: 0 })
  assert.notEqual(second, id)
  assert.deepEqual([notesOf(two)[0]!.text, notesOf(two)[0]!.kept], ['why', 1])
  assert.deepEqual(setNote(setNote(two, id, undefined), second, undefined), map)
  assert.equal(setNote(map, 'none', { text: 'x' }), map)
})

test('ignores what is no note and no group', () => {
  const odd = {
    ...map,
    notes: [1, { id: 'n' }, { id: 'm', text: 't', position: { x: 1, y: 2 }, size: { width: 1 } }],
    groups: 'x',
  }
  assert.deepEqual(
    notesOf(odd).map(({ id, size }) => [id, size.width, size.height]),
    [['m', 144, 120]],
  )
  assert.deepEqual(groupsOf(odd), [])
  assert.deepEqual(groupsOf({ ...map, groups: [{ id: 'g', title: 'gone', nodes: ['z'] }] }), [])
})

test('groups nodes, each in one group at most', () => {
  const { map: both } = group(map, new Set(['a', 'b']), 'Both')
  const { map: split } = group(both, new Set(['b']), 'Second')
  assert.deepEqual(
    groupsOf(split).map(({ title, nodes }) => [title, nodes]),
    [
      ['Both', ['a']],
      ['Second', ['b']],
    ],
  )
  const { map: moved } = group(split, new Set(['a']), 'Third')
  assert.deepEqual(
    groupsOf(moved).map(({ title }) => title),
    ['Second', 'Third'],
    'an empty group is removed',
  )
  assert.deepEqual(groupsOf(renamedInGroups(both, 'a', 'z'))[0]?.nodes, ['b'], 'z is no node of this map')
  assert.deepEqual(withoutNodes(both, new Set(['a', 'b'])), map)
  assert.deepEqual(setGroup(both, groupsOf(both)[0]!.id, undefined), map)
})

test('a frame surrounds the nodes of its group', () => {
  const { map: both } = group(map, new Set(['a', 'b']), 'Both')
  assert.deepEqual(frameOf(both, groupsOf(both)[0]!), { left: -24, top: -56, right: 320 + 224 + 24, bottom: 60 + 24 })
  assert.equal(frameOf(both, groupsOf(both)[0]!, new Map([['a', { x: -80, y: 0 }]])).left, -104)
})
