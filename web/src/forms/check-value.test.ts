import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkValue } from './check-value'
import { variantOf } from './variant'

test('reports invalid values at their paths', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1 },
      age: { type: 'integer', minimum: 0 },
      mail: { type: 'string', format: 'email' },
      tags: { type: 'array', items: { enum: ['a'] }, maxItems: 2 },
      note: { type: ['string', 'null'] },
    },
    required: ['name', 'mail'],
  }
  assert.deepEqual(checkValue(schema, { name: 'x', age: 3, mail: 'a@b', tags: ['a'], note: null }), [])
  const told = checkValue(schema, { name: '', age: -1.5, tags: ['b', 'a', 'a'] }).map(
    (issue) => `${issue.path.join('.')}: ${issue.message}`,
  )
  assert.deepEqual(told, [
    'name: Must not be empty.',
    'mail: Required.',
    'age: Must be a whole number.',
    'age: Must be at least 0.',
    'tags: Must have at most 2 items.',
    'tags.0: Must be one of the choices.',
  ])
  assert.deepEqual(checkValue({ type: 'string', pattern: '[' }, 'x'), [])
})

test('chooses the alternative named by its constant', () => {
  const variants = ['none', 'bearer'].map((type) => ({
    schema: { type: 'object', properties: { type: { const: type } }, required: ['type'] },
  }))
  assert.deepEqual(variantOf(variants, { type: 'bearer' }, true), [1])
  assert.deepEqual(
    variantOf([{ schema: { type: 'string', format: 'expression' } }, { schema: { type: 'array' } }], [], true),
    [1],
  )
  assert.deepEqual(variantOf(variants, undefined, true), [])
})
