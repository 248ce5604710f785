import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MapNode } from '../../graph/map'
import { addNode, remove } from './operations'
import { isDirty, open, reduce, shownMap } from './state'

const node = (id: string, config: object = {}): MapNode => ({
  id,
  type: 'items' in config ? 'for-each' : 'log',
  title: id,
  config: config as MapNode['config'],
  position: { x: 0, y: 0 },
})
const doc = { map: { nodes: [node('a'), node('loop', { items: 'input', nodes: [node('in')] })] }, variables: [] }

test('changes the level that is shown, and undo returns to it', () => {
  let state = reduce(open(doc, '1.0.0'), { do: 'enter', level: ['loop'] })
  state = reduce(state, { do: 'map', name: 'add', change: (map) => addNode(map, node('x')), select: ['x'], at: 0 })
  assert.deepEqual(
    shownMap(state.history.present.map, state.level).nodes.map((each) => each.id),
    ['in', 'x'],
  )
  assert.deepEqual([...state.nodes], ['x'])
  assert.equal(isDirty(state), true)
  state = reduce(state, { do: 'undo' })
  assert.deepEqual([...state.nodes], [], 'what is gone is not chosen')
  assert.equal(isDirty(state), false, 'back at what is saved')
  assert.deepEqual([...reduce(state, { do: 'redo' }).nodes], ['x'], 'what comes back is chosen')
})

test('leaves a level that was removed', () => {
  let state = reduce(open(doc, '1.0.0'), {
    do: 'map',
    name: 'delete',
    change: (map) => remove(map, new Set(['a'])),
    at: 0,
  })
  state = reduce(reduce(state, { do: 'enter', level: ['loop'] }), {
    do: 'replace',
    name: 'draft',
    doc: { map: { nodes: [] }, variables: [] },
    at: 1,
  })
  assert.deepEqual(state.level, [])
  assert.equal(reduce(state, { do: 'map', name: 'none', change: (map) => map, at: 2 }).history, state.history)
})

test('an added node is fresh until its selection ends or it is looked at from elsewhere', () => {
  const add = (id: string, state = open(doc, '1.0.0')) =>
    reduce(state, {
      do: 'map',
      name: 'add',
      change: (map) => addNode(map, node(id)),
      select: [id],
      fresh: id,
      at: 0,
    })
  const both = add('y', add('x'))
  assert.deepEqual([...both.fresh], ['x', 'y'], 'adding another node is no way of leaving one')
  assert.deepEqual([...reduce(both, { do: 'select', nodes: ['x'] }).fresh], ['x'])
  assert.deepEqual([...reduce(both, { do: 'select', nodes: [] }).fresh], ['x'])
  assert.deepEqual([...reduce(both, { do: 'select', edges: [] }).fresh], ['x', 'y'])
  assert.deepEqual([...reduce(both, { do: 'enter', level: [], select: ['y'] }).fresh], [])
  assert.deepEqual([...reduce(both, { do: 'checked' }).fresh], [])

  const back = reduce(reduce(both, { do: 'undo' }), { do: 'redo' })
  assert.deepEqual([...back.fresh], ['x', 'y'], 'still fresh after undo and redo')
  const pasted = reduce(reduce(both, { do: 'undo' }), {
    do: 'map',
    name: 'paste',
    change: (map) => addNode(map, node('y')),
    select: ['y'],
    at: 1,
  })
  assert.deepEqual([...pasted.fresh], ['x'], 'another node with the id of an undone one')
})
