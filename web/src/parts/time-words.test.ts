import assert from 'node:assert/strict'
import { test } from 'node:test'
import { showAbsolute, showBytes, showCount, showDuration, showRelative } from './time-words'

test('relative times', () => {
  const cases: [number, string][] = [
    [0, 'just now'],
    [-44, 'just now'],
    [20, 'in a moment'],
    [-46, '1 minute ago'],
    [-180, '3 minutes ago'],
    [-3590, '1 hour ago'],
    [7200, 'in 2 hours'],
    [-86_400, 'yesterday'],
    [86_400 * 3, 'in 3 days'],
    [-86_400 * 400, 'last year'],
  ]
  for (const [seconds, words] of cases) assert.equal(showRelative(1e12 + seconds * 1000, 1e12), words, String(seconds))
})

test('absolute times with their zone', () => {
  assert.match(showAbsolute(new Date('2026-11-22T10:26:28Z'), 'UTC'), /^22 Nov 2026, 10:26:28 (UTC|GMT)$/)
})

test('durations', () => {
  const cases: [number, string][] = [
    [0, '0 ms'],
    [340, '340 ms'],
    [2400, '2.4 s'],
    [59_940, '59.9 s'],
    [59_990, '1 min'],
    [200_000, '3 min 20 s'],
    [7_500_000, '2 h 5 min'],
    [273_600_000, '3 d 4 h'],
    [Number.NaN, ''],
  ]
  for (const [milliseconds, words] of cases) assert.equal(showDuration(milliseconds), words)
})

test('sizes and counts', () => {
  const cases: [number, string][] = [
    [0, '0 B'],
    [812, '812 B'],
    [1024, '1 KiB'],
    [1434, '1.4 KiB'],
    [20 * 2 ** 20, '20 MiB'],
    [2 ** 20 - 1, '1 MiB'],
  ]
  for (const [bytes, words] of cases) assert.equal(showBytes(bytes), words)
  assert.equal(showCount(1, 'run'), '1 run')
  assert.equal(showCount(1234, 'entry', 'entries'), '1,234 entries')
})
