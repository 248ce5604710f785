import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Names } from './names'
import { previewOf } from './preview'

const names: Names = {
  input: { value: { total: 12.5, name: 'Ada', items: [{ id: 7 }], none: null }, seen: true },
  step: { value: { id: 4 }, seen: true, members: { id: { schema: { type: 'integer' } } } },
  later: { schema: { type: 'string' } },
}
const template = (text: string) => previewOf(text, 'template', names)

test('fills in the values of an earlier run', () => {
  assert.equal(template('{{input.total}}'), '12.5')
  assert.equal(template('{{ input.name }}'), '"Ada"')
  assert.equal(template('{{step.id}}'), '4', 'what was seen, not only what is promised')
  assert.equal(template('Dear {{input.name}}, {{input.items[0].id}} of {{input.total}}'), 'Dear Ada, 7 of 12.5')
  assert.equal(previewOf('input.items[0]', 'expression', names), '{"id":7}')
})

test('uses the standard of a value that is missing', () => {
  assert.equal(template('{{input.city ?? "Lisbon"}}'), '"Lisbon"')
  assert.equal(template('to {{input.none ?? "Lisbon"}}'), 'to Lisbon')
  assert.equal(template('{{input.name ?? "Lisbon"}}'), '"Ada"')
})

test('shows nothing that it does not know', () => {
  for (const text of [
    '',
    'plain',
    '{{later}}',
    '{{input.city}}',
    '{{= input.total * 2}}',
    '{{input.total',
    '{{later ?? 1}}',
    '{{gone ?? 1}}',
  ])
    assert.equal(template(text), undefined, text)
  assert.equal(previewOf('input.total > 100', 'expression', names), undefined)
  assert.equal(previewOf('{{input.total}}', 'template', undefined), undefined)
})
