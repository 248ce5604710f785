import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inUnit, inWords, msOf, unitOf } from './duration'

test('shows durations in the largest whole unit', () => {
  for (const [ms, words] of [
    [1500, '1500 milliseconds'],
    [1000, '1 second'],
    [90_000, '90 seconds'],
    [3_600_000, '1 hour'],
    [172_800_000, '2 days'],
    [0, '0 seconds'],
  ] as const) {
    assert.equal(inWords(ms), words)
  }
})

test('reads durations in any unit', () => {
  assert.equal(msOf('1.5', 'minutes'), 90_000)
  assert.equal(msOf('1,5', 'seconds'), 1500)
  assert.equal(msOf('', 'seconds'), undefined)
  assert.equal(msOf('-1', 'seconds'), undefined)
  assert.equal(msOf('99999999999999999999', 'days'), undefined)
  assert.equal(inUnit(90_000, 'hours'), '0.025')
  assert.equal(unitOf(undefined), 'seconds')
})
