import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold, lineDiff } from './line-diff'

const short = (before: string, after: string) =>
  lineDiff(before, after).map(({ kind, left, right }) => `${kind} ${left ?? ''}|${right ?? ''}`)

test('pairs changed lines', () => {
  assert.deepEqual(short('a\nb\nc', 'a\nx\nc'), ['same a|a', 'changed b|x', 'same c|c'])
  assert.deepEqual(short('a\nc', 'a\nb\nc'), ['same a|a', 'added |b', 'same c|c'])
  assert.deepEqual(short('a\nb\nc\nd', 'a\nc\nd\ne'), ['same a|a', 'removed b|', 'same c|c', 'same d|d', 'added |e'])
  assert.deepEqual(short('', 'a'), ['changed |a'])
})

test('does not compare long texts line by line', () => {
  const text = (start: number) => Array.from({ length: 20_000 }, (_, line) => String(start + line)).join('\n')
  assert.equal(lineDiff(text(0), text(1)).length, 20_000)
})

test('folds unchanged lines', () => {
  const rows = fold(lineDiff('1\n2\n3\n4\n5\n6\n7', '1\n2\n3\n4\n5\n6\nx'))
  assert.deepEqual(
    rows.map((row) => (row.kind === 'folded' ? row.count : row.kind)),
    [4, 'same', 'same', 'changed'],
  )
})
