import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inside } from './where.ts'

test('returns only to pages of this dashboard', () => {
  const cases: [string | null, string][] = [
    [null, '/'],
    ['', '/'],
    ['/runs?status=failed', '/runs?status=failed'],
    ['/blueprints/1/edit#x', '/blueprints/1/edit#x'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['https://evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/\t/evil.example', '/'],
    ['/signin', '/'],
    ['/signin?to=/signin', '/'],
    ['/setup?token=x', '/'],
    ['/setups', '/setups'],
  ]
  for (const [given, wanted] of cases) assert.equal(inside(given), wanted, String(given))
})
