import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barsOf, failureRate, niceTop, questionOf } from './run-bars'

const hour = 3_600_000

function bucket(at: number, completed = 0, failed = 0, meanMs: number | null = null, slowestMs: number | null = null) {
  return { start: new Date(at * hour).toISOString(), completed, failed, meanMs, slowestMs }
}

test('ends the range at the next full hour', () => {
  const asked = questionOf('24h', 10.5 * hour)
  assert.deepEqual(asked, {
    from: new Date(-13 * hour).toISOString(),
    to: new Date(11 * hour).toISOString(),
    bucket: 'hour',
  })
  assert.equal(questionOf('30d', 10.5 * hour).bucket, 'day')
})

test('shows a bar per hour for a day', () => {
  const { bars, top } = barsOf([bucket(0, 3, 1, 10, 20), bucket(1)], '24h')
  assert.equal(top, 5)
  assert.deepEqual([bars[0]?.completedHeight, bars[0]?.failedHeight, bars[0]?.end], [0.6, 0.2, hour])
  assert.deepEqual([bars[1]?.completed, bars[1]?.meanMs, bars[1]?.end], [0, null, 2 * hour])
})

test('joins six hours in a bar for a week and weights the means', () => {
  const buckets = [bucket(0, 1, 0, 100, 100), bucket(1, 2, 1, 20, 50), ...[2, 3, 4, 5, 6].map((at) => bucket(at))]
  const { bars } = barsOf(buckets, '7d')
  assert.equal(bars.length, 2)
  assert.deepEqual(
    [bars[0]?.completed, bars[0]?.failed, bars[0]?.meanMs, bars[0]?.slowestMs, bars[0]?.end],
    [3, 1, 40, 100, 6 * hour],
  )
})

test('does not divide by zero without runs', () => {
  const { bars, top } = barsOf([bucket(0)], '24h')
  assert.deepEqual([top, bars[0]?.completedHeight], [1, 0])
  assert.deepEqual(barsOf([], '24h'), { bars: [], top: 1 })
})

test('ends the axis at a round number', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 7, 11, 22, 99, 101].map(niceTop), [1, 1, 2, 3, 5, 10, 20, 30, 100, 200])
})

test('rounds the failure rate sensibly', () => {
  assert.equal(failureRate(0, 0), null)
  assert.equal(failureRate(10, 0), '0 %')
  assert.equal(failureRate(999, 1), '0.1 %')
  assert.equal(failureRate(99999, 1), '< 0.1 %')
  assert.equal(failureRate(88, 12), '12 %')
})
