import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entriesOf, kindOf, lineOf, openAtFirst, pathOf, sizeOf } from './json-tree'

test('reads values by their kind', () => {
  const cases: [unknown, string, number, string][] = [
    [null, 'null', 0, 'null'],
    [undefined, 'absent', 0, 'none'],
    [[1], 'array', 1, '[ 1 item ]'],
    [{ a: 1, b: 2 }, 'object', 2, '{ 2 keys }'],
    ['a"b', 'string', 0, '"a\\"b"'],
    [1.5, 'number', 0, '1.5'],
    [false, 'boolean', 0, 'false'],
    [[], 'array', 0, '[ 0 items ]'],
  ]
  for (const [value, kind, size, line] of cases)
    assert.deepEqual([kindOf(value), sizeOf(value), lineOf(value)], [kind, size, line])
})

test('truncates long levels', () => {
  assert.deepEqual(entriesOf([5, 6, 7], 2), [
    [0, 5],
    [1, 6],
  ])
  assert.deepEqual(entriesOf({ a: 1, b: 2 }, 1), [['a', 1]])
})

test('opens small values level by level while rows are left', () => {
  const value = { a: { b: { c: 1 } }, list: [1, 2, 3] }
  assert.deepEqual([...openAtFirst(value, 6)], ['', '/a', '/list'])
  assert.deepEqual([...openAtFirst(value, 7)], ['', '/a', '/list', '/a/b'])
  assert.deepEqual([...openAtFirst(value, 1)], [''])
  assert.deepEqual([...openAtFirst({ long: [1, 2, 3, 4], short: [1] }, 4)], ['', '/short'])
  for (const scalar of [7, 'text', null, undefined]) assert.deepEqual([...openAtFirst(scalar, 1)], [''])
})

test('distinguishes keys that contain a slash', () => {
  assert.notEqual(pathOf(pathOf('', 'a'), 'b'), pathOf('', 'a/b'))
})
