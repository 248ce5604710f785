import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromField, isFiltered, noFilters, questionFor, timeOfId, toField } from './ledger-filters.ts'
import { checkObject, exampleOf } from './sample-input.ts'

test('reads filters from the URL', () => {
  const all = { decision: 'refused', source: 'webhook', status: 'failed', time: '1h', key: ' k1 ', page: '3' }
  assert.deepEqual(questionFor('t', all, ['webhook'], 3_600_000), {
    triggerId: 't',
    limit: 25,
    offset: 50,
    decision: 'refused',
    source: 'webhook',
    executionStatus: 'failed',
    from: '1970-01-01T00:00:00.000Z',
    key: 'k1',
  })
  assert.deepEqual(
    questionFor('t', { decision: 'x', source: 'y', status: 'z', time: 'constructor', key: ' ', page: '-2' }, [], 0),
    { triggerId: 't', limit: 25, offset: 0 },
  )
  assert.equal(isFiltered(noFilters), false)
  assert.equal(isFiltered({ ...noFilters, page: '2' }), false)
  assert.equal(isFiltered({ ...noFilters, key: 'a' }), true)
  const at = Math.floor(Date.now() / 60_000) * 60_000
  assert.equal(fromField(toField(at)), new Date(at).toISOString())
  assert.equal(timeOfId('01ARZ3NDEKTSV4RRFFQ69G5FAV'), 1469922850259)
  assert.equal(fromField(''), null)
  assert.equal(fromField('soon'), null)
})

test('creates sample deliveries', () => {
  assert.deepEqual(
    exampleOf({
      type: 'object',
      properties: {
        a: { type: 'integer' },
        b: { enum: ['x'] },
        c: { type: 'array', items: { type: 'string' } },
        d: { default: null },
      },
    }),
    { a: 1, b: 'x', c: ['text'], d: null },
  )
  assert.deepEqual(exampleOf(undefined), {})
  assert.equal(checkObject(''), undefined)
  assert.equal(checkObject('{"a":1}'), undefined)
  assert.match(checkObject('[1]')!, /Must be a JSON object/)
  assert.match(checkObject('{')!, /Invalid JSON/)
})
