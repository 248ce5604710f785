import assert from 'node:assert/strict'
import { test } from 'node:test'
import { marksOf } from './marks'
import type { Names } from './names'

const names: Names = {
  region: {},
  input: { value: { a: 1 }, seen: true },
  nodes: { closed: true, members: { fetch: { closed: true, members: { output: {} } } } },
}
const read = (text: string, language: 'template' | 'expression' = 'template') =>
  marksOf(text, language, names).map((mark) => `${mark.kind}:${text.slice(mark.from, mark.to)}`)

test('marks placeholders', () => {
  assert.deepEqual(read('plain'), [])
  assert.deepEqual(read('a {{region}} b {{ input.a }}'), ['template:{{region}}', 'template:{{ input.a }}'])
  assert.deepEqual(read('{{region ?? "}}"}}'), ['template:{{region ?? "}}"}}'])
  assert.deepEqual(read('{{= upper(region) }}'), ['template:{{= upper(region) }}'])
})

test('marks unknown names, except those that may exist', () => {
  assert.deepEqual(read('{{regoin}}'), ['template:{{', 'unknown:regoin', 'template:}}'])
  assert.deepEqual(read('{{regoin ?? 1}}'), ['template:{{regoin ?? 1}}'])
  assert.deepEqual(read('{{input.b}}'), ['template:{{input.b}}'])
  assert.deepEqual(read('{{nodes.fetsch.output}}')[1], 'unknown:nodes.fetsch.output')
  assert.deepEqual(read('{{nodes.fetch.input}}')[1], 'unknown:nodes.fetch.input')
  assert.deepEqual(read('{{nodes.fetch.output.x}}').length, 1)
})

test('marks malformed placeholders with a reason', () => {
  for (const text of ['{{', '{{a', '{{a b}}', '{{a.}}', '{{= 1', '{{a ?? x}}', '{{}}', '{{a-b}}']) {
    const marks = marksOf(text, 'template', names)
    assert.equal(marks.length, 1, text)
    assert.equal(marks[0]!.kind, 'bad', text)
    assert.ok(marks[0]!.message, text)
  }
  assert.deepEqual(read('{{a {{region}}'), ['bad:{{a ', 'template:{{region}}'])
})

test('marks only names of the scope in expressions', () => {
  assert.deepEqual(read('filter(input.list, .x > 1 and #.y in region) | map({k: #})', 'expression'), [])
  assert.deepEqual(read('let x = 1; x + regoin', 'expression'), ['unknown:regoin'])
  assert.deepEqual(read('"regoin" + `regoin` // regoin', 'expression'), [])
  assert.deepEqual(read('true ? region : nil', 'expression'), [])
  assert.deepEqual(read('input?.a.b ?? nope', 'expression'), ['unknown:nope'])
})
