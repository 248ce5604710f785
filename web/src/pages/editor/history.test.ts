import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begin, change, names, redo, undo } from './history'

test('undoes and redoes', () => {
  let history = begin('a')
  history = change(history, 'b', 'add', undefined, 0)
  history = change(history, 'c', 'move', undefined, 1)
  assert.deepEqual(names(history), { undo: 'move', redo: undefined })
  history = undo(undo(history))
  assert.equal(history.present, 'a')
  assert.equal(undo(history), history)
  history = redo(history)
  assert.equal(history.present, 'b')
  assert.deepEqual(names(history), { undo: 'add', redo: 'move' })
  history = change(history, 'd', 'other', undefined, 2)
  assert.equal(redo(history), history, 'a new change ends what could be done again')
})

test('joins typing into one step until a pause or another change', () => {
  let history = begin('')
  for (const [index, text] of ['h', 'he', 'hey'].entries())
    history = change(history, text, 'type', 'title a', index * 200)
  assert.equal(history.past.length, 1)
  history = change(history, 'hey!', 'type', 'title a', 5000)
  assert.equal(history.past.length, 2)
  history = change(history, 'other', 'type', 'title b', 5001)
  assert.equal(history.past.length, 3)
  history = undo(history)
  history = change(history, 'again', 'type', 'title b', 5002)
  assert.equal(undo(history).present, 'hey!', 'after going back nothing is joined')
})

test('ignores an unchanged state and limits the history', () => {
  let history = begin(0)
  assert.equal(change(history, 0, 'none', undefined, 0), history)
  for (let number = 1; number <= 300; number++) history = change(history, number, 'count', undefined, number)
  assert.equal(history.past.length, 200)
})
