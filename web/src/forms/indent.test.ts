import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyKindOf, turn } from './any-kind'
import { dayTime, momentOf } from './moment'
import { type Edited, indent, newLine, outdent } from './indent'

// "<" and ">" mark the selection, "|" a caret.
function on(marked: string, change: (edited: Edited) => Edited): string {
  const plain = marked.replace(/[<>|]/g, '')
  const from = marked.search(/[<|]/)
  const to = marked.includes('|') ? from : marked.indexOf('>') - 1
  const { text, from: start, to: end } = change({ text: plain, from, to })
  return start === end
    ? `${text.slice(0, start)}|${text.slice(start)}`
    : `${text.slice(0, start)}<${text.slice(start, end)}>${text.slice(end)}`
}

test('indents and outdents lines', () => {
  assert.equal(on('a|b', indent), 'a  |b')
  assert.equal(on('<a\nb>', indent), '  <a\n  b>')
  assert.equal(on('  <a\n b>', outdent), '<a\nb>')
  assert.equal(on('  |a', outdent), '|a')
  assert.equal(on('<a\n>b', indent), '  <a\n>b')
})

test('indents a new line like the one before', () => {
  assert.equal(on('  a|', newLine), '  a\n  |')
  assert.equal(on('if (x) {|}', newLine), 'if (x) {\n  |\n}')
  assert.equal(on('  f(|', newLine), '  f(\n    |')
})

test('converts values between kinds', () => {
  assert.equal(anyKindOf(undefined), 'none')
  assert.deepEqual(turn('{"a":1}', 'json'), { a: 1 })
  assert.equal(turn({ a: 1 }, 'text'), '{"a":1}')
  assert.equal(turn('12', 'number'), 12)
  assert.equal(turn('x', 'number'), 0)
  assert.equal(turn('', 'none'), undefined)
})

test('shows instants in local time and writes them in UTC', () => {
  const text = '2026-01-31T12:00:05.000Z'
  assert.equal(momentOf(dayTime(text)!), text)
  assert.equal(dayTime('tomorrow'), undefined)
  assert.equal(momentOf(''), undefined)
})
