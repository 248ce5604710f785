import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelOf } from './label'
import { fieldOf } from './schema'
import type { Schema } from './types'

const orTemplate = (schema: object) => ({ anyOf: [schema, { type: 'string', pattern: '\\{\\{' }] })

test('reads kinds from schemas', () => {
  const cases: [string, Schema, string][] = [
    ['text', { type: 'string' }, 'text'],
    ['a template beside a number', orTemplate({ type: 'integer', minimum: 1 }), 'number'],
    ['a template beside a choice', orTemplate({ type: 'string', enum: ['a', 'b'] }), 'choice'],
    ['expression', { type: 'string', format: 'expression' }, 'expression'],
    ['hint', { type: 'string', 'x-kind': 'code' }, 'code'],
    ['schema', { type: ['object', 'boolean'] }, 'json-schema'],
    ['object without members', orTemplate({ type: 'object' }), 'map'],
    ['object', { properties: { a: true } }, 'object'],
    ['list', { type: 'array', items: { type: 'string' } }, 'list'],
    ['tuple', { type: 'array', prefixItems: [true] }, 'any'],
    ['nothing', {}, 'any'],
    ['true', true, 'any'],
    ['two types', { type: ['string', 'number'] }, 'any'],
    ['date', { type: 'string', format: 'date' }, 'date'],
    ['constant', { const: 1 }, 'constant'],
    ['named constants', { oneOf: [{ const: 1, title: 'one' }, { const: 2 }] }, 'choice'],
    [
      'objects to choose from',
      { oneOf: [{ type: 'object', properties: { a: true } }, { type: 'string' }] },
      'variants',
    ],
    ['an unknown reference', { $ref: 'https://example.com/other' }, 'any'],
    ['connections', orTemplate({ type: 'array', items: { type: 'string' }, 'x-kind': 'connection' }), 'connections'],
    ['duration', orTemplate({ type: 'integer', 'x-kind': 'duration-ms' }), 'duration'],
  ]
  for (const [name, schema, kind] of cases) assert.equal(fieldOf(schema).kind, kind, name)
})

test('keeps annotations beside alternatives and unwraps the alternatives', () => {
  const field = fieldOf({
    ...orTemplate({ type: 'integer', minimum: 1, maximum: 9 }),
    description: 'how many',
    default: 2,
  })
  assert.equal(field.template, true)
  assert.equal(field.whole, true)
  assert.equal(field.description, 'how many')
  assert.equal(field.standard, 2)
  assert.equal(field.schema.maximum, 9)
})

test('treats null as an alternative', () => {
  for (const schema of [{ type: ['string', 'null'] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }]) {
    const field = fieldOf(schema)
    assert.equal(field.kind, 'text')
    assert.equal(field.nullable, true)
  }
})

test('follows references, including cycles', () => {
  const root = { $defs: { name: { type: 'string', title: 'Name' }, self: { $ref: '#/$defs/self' } } }
  assert.equal(fieldOf({ $ref: '#/$defs/name' }, root).title, 'Name')
  assert.equal(fieldOf({ $ref: '#/$defs/self' }, root).kind, 'any')
  assert.equal(fieldOf({ $ref: '#/$defs/__proto__' }, root).kind, 'any')
})

test('keeps the order of members and marks required ones', () => {
  const field = fieldOf({
    type: 'object',
    properties: { a: true, b: true, c: true },
    'x-order': ['c', 'a'],
    required: ['a'],
  })
  assert.deepEqual(
    field.properties?.map((p) => [p.key, p.required]),
    [
      ['c', false],
      ['a', true],
      ['b', false],
    ],
  )
})

test('joins the members of all parts', () => {
  const field = fieldOf({
    allOf: [
      { properties: { a: true }, required: ['a'] },
      { properties: { b: true }, required: ['b'] },
    ],
  })
  assert.deepEqual(
    field.properties?.map((p) => [p.key, p.required]),
    [
      ['a', true],
      ['b', true],
    ],
  )
})

test('names alternatives by title, constant or type', () => {
  const field = fieldOf({
    oneOf: [
      { type: 'object', properties: { type: { const: 'bearer' } } },
      { type: 'array' },
      { title: 'None', type: 'boolean' },
    ],
  })
  assert.deepEqual(
    field.variants?.map((one) => one.title),
    ['bearer', 'List', 'None'],
  )
})

test('turns keys into labels', () => {
  for (const [key, label] of [
    ['expectStatus', 'Expect status'],
    ['timeoutMs', 'Timeout'],
    ['connectionId', 'Connection'],
    ['url', 'URL'],
    ['mcpConnectionIds', 'MCP connections'],
    ['fileId', 'File'],
    ['id', 'ID'],
    ['snake_case', 'Snake case'],
    ['', ''],
  ]) {
    assert.equal(labelOf(key!), label, key)
  }
})
