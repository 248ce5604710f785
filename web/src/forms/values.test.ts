import assert from 'node:assert/strict'
import { test } from 'node:test'
import { below, ordered, sentence, under } from './issues'
import { startOf } from './start'
import { moved, readNumber, renamed, same, withMember } from './values'

test('sets members in place and removes them', () => {
  const object = { b: 1, a: 2 }
  assert.deepEqual(Object.entries(withMember(object, 'b', 3)), [
    ['b', 3],
    ['a', 2],
  ])
  assert.deepEqual(withMember(object, 'b', undefined), { a: 2 })
  assert.deepEqual(Object.keys(renamed(object, 'b', 'c')), ['c', 'a'])
  assert.deepEqual(Object.keys(withMember({}, '__proto__', 1)), ['__proto__'])
  assert.deepEqual(object, { b: 1, a: 2 })
})

test('moves items', () => {
  assert.deepEqual(moved([1, 2, 3], 0, 1), [2, 1, 3])
  assert.deepEqual(moved([1, 2, 3], 2, -1), [1, 3, 2])
})

test('reads numbers as users write them', () => {
  for (const [text, value] of [
    ['12', 12],
    ['-1.5', -1.5],
    ['1,5', 1.5],
    ['.5', 0.5],
    ['3.', 3],
    [' 7 ', 7],
    ['1e3', 1000],
    ['', undefined],
    ['1.2.3', undefined],
    ['x', undefined],
    ['01', undefined],
    ['1,000,000', undefined],
  ] as const) {
    assert.equal(readNumber(text), value, text)
  }
})

test('compares values as JSON', () => {
  assert.equal(same({ a: [1, { b: null }], c: '' }, { c: '', a: [1, { b: null }] }), true)
  assert.equal(same({ a: 1 }, { a: 1, b: undefined }), false)
  assert.equal(same([1], { 0: 1 }), false)
})

test('finds the field of an issue', () => {
  const issues = [
    { path: ['a', 0, 'b'], message: 'x' },
    { path: ['a'], message: 'y', severity: 'warning' },
    { path: [], message: 'z' },
  ]
  assert.deepEqual(
    below(issues, 'a').map((issue) => issue.path),
    [[0, 'b'], []],
  )
  assert.deepEqual(under(issues, ['a', 0]).map(sentence), ['b: x'])
  assert.deepEqual(
    ordered([issues[1]!, issues[2]!, issues[2]!]).map((issue) => issue.message),
    ['z', 'y'],
  )
})

test('creates values from schema defaults', () => {
  assert.deepEqual(
    startOf({
      type: 'object',
      properties: { type: { const: 'a' }, n: { type: 'number' }, l: { type: 'array' } },
      required: ['l', 'n'],
    }),
    { type: 'a', l: [] },
  )
  assert.equal(startOf({ type: 'integer', default: 8 }), 8)
  assert.equal(startOf({ enum: ['x', 'y'] }), 'x')
  assert.equal(startOf(true), undefined)
})
