import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accesses, keyInput, showScopes } from './key-scopes'

test('shows scopes as they are chosen', () => {
  for (const { label, scopes } of accesses) if (scopes) assert.equal(showScopes(scopes), label)
  assert.equal(showScopes(['read', 'run', 'write', 'admin']), 'Full access')
  assert.equal(showScopes(['read', 'run']), 'Read and run')
})

test('sends the chosen scopes', () => {
  const now = Date.parse('2026-11-23T12:00:00Z')
  assert.deepEqual(keyInput(' ci ', 'all', '', '', now), { name: 'ci' })
  assert.deepEqual(keyInput('ci', 'run', '7', '', now), {
    name: 'ci',
    scopes: ['run'],
    expiresAt: '2026-11-30T12:00:00.000Z',
  })
  assert.equal(keyInput('ci', 'all', 'at', '', now), undefined)
  assert.equal(keyInput('ci', 'all', 'at', '2020-01-01T00:00', now), undefined)
  assert.equal(keyInput('ci', 'all', 'at', '2027-01-01T00:00Z', now)?.expiresAt, '2027-01-01T00:00:00.000Z')
})
