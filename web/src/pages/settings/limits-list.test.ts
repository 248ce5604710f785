import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepWords, limitsOf, variableOf } from './limits-list.ts'

test('describes how long history is kept', () => {
  const cases: [string, string][] = [
    ['all', 'Forever'],
    ['0', 'Forever'],
    ['90d', '90 days'],
    ['1d', '1 day'],
    ['2160h0m0s', '90 days'],
    ['36h', '36 hours'],
    ['1h30m0s', '1 hour 30 minutes'],
    ['100000', 'The newest 100,000 runs'],
    ['odd', 'odd'],
  ]
  for (const [keep, words] of cases) assert.equal(keepWords(keep, 'run'), words)
})

test('shows when there is no limit', () => {
  const zero = {
    maxBlueprints: 0,
    blueprints: 3,
    rateLimit: 0,
    rateBurst: 200,
    maxBody: 1 << 20,
    syncTimeoutMs: 30_000,
    maxRunning: 1000,
    maxQueued: 0,
    keepExecutions: 'all',
    keepFirings: '90d',
    keepAudit: '400d',
    maxDisk: 0,
  }
  const values = Object.fromEntries(
    limitsOf({ limits: zero, ephemeral: false } as never)
      .flatMap((group) => group.limits)
      .map((one) => [one.flag, one.value]),
  )
  assert.equal(values['--rate-limit'], 'No limit')
  assert.equal(values['--max-body'], '1 MiB')
  assert.equal(values['--sync-timeout'], '30 s')
  assert.equal(values['--max-queued'], 'No limit')
  assert.equal(variableOf('--max-disk'), 'BLUEPRINTD_MAX_DISK')
})
