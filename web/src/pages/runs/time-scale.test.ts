import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Row } from './step-rows'
import { around, lengthLabel, moved, partsOf, pausesOf, placed, wholeOf, zoomed } from './time-scale'
import type { Awaiting, LogLine } from './types'

const whole = { from: 1000, to: 2000 }

function row(start: number, end: number, status: Row['status'] = 'completed', nodeType = 'set'): Row {
  const step = {
    nodeId: 'a',
    nodeType,
    title: '',
    status,
    startTime: null,
    endTime: null,
    durationMs: null,
    attempt: 1,
    input: null,
    output: null,
  }
  return { address: 'a', kind: 'step', depth: 0, title: 'a', status, start, end, step, within: 0, open: false }
}

test('extends to now until the run ends, and is never empty', () => {
  assert.deepEqual(wholeOf({ startTime: '1970-01-01T00:00:01Z', endTime: null }, 5000), { from: 1000, to: 5000 })
  assert.deepEqual(wholeOf({ startTime: '1970-01-01T00:00:01Z', endTime: '1970-01-01T00:00:01Z' }, 5000), {
    from: 1000,
    to: 1001,
  })
  assert.deepEqual(wholeOf({ startTime: null, endTime: null }, 7), { from: 7, to: 8 })
})

test('divides a bar into running and waiting', () => {
  assert.deepEqual(partsOf(row(1100, 1200), whole), [{ from: 1100, to: 1200, waits: false }])
  assert.deepEqual(partsOf(row(1100, 1200, 'completed', 'human'), whole, undefined, [], true), [
    { from: 1100, to: 1200, waits: true },
  ])
  assert.deepEqual(partsOf(row(1100, Number.NaN, 'running'), whole), [{ from: 1100, to: 2000, waits: false }])
  const asked = { requestedAt: new Date(1500).toISOString() } as Awaiting
  assert.deepEqual(partsOf(row(1100, Number.NaN, 'paused', 'ai-prompt'), whole, asked), [
    { from: 1100, to: 1500, waits: false },
    { from: 1500, to: 2000, waits: true },
  ])
})

test('has no bar for steps that have not started or were kept', () => {
  assert.deepEqual(partsOf(row(Number.NaN, Number.NaN, 'pending'), whole), [])
  assert.deepEqual(partsOf(row(100, 200), whole), [])
})

test('counts the time between attempts as waiting', () => {
  const line = (at: number, wait: string) =>
    ({
      timestamp: new Date(at).toISOString(),
      level: 'warn',
      nodeId: 'a',
      message: `attempt 1 failed: no; the next in ${wait}`,
    }) as LogLine
  const pauses = pausesOf([
    line(1100, '100ms'),
    line(1300, '1m2.5s'),
    { timestamp: '', level: 'warn', nodeId: 'a', message: 'else' } as LogLine,
  ])
  assert.deepEqual(pauses.get('a'), [
    { from: 1100, to: 1200 },
    { from: 1300, to: 63_800 },
  ])
  assert.deepEqual(
    partsOf(row(1050, 1400), whole, undefined, pauses.get('a')).map((part) => [part.from, part.to, part.waits]),
    [
      [1050, 1100, false],
      [1100, 1200, true],
      [1200, 1300, false],
      [1300, 1400, true],
    ],
  )
})

test('positions a range within the window', () => {
  assert.deepEqual(placed({ from: 1250, to: 1500 }, whole), { left: 25, width: 25 })
  assert.deepEqual(placed({ from: 500, to: 1500 }, whole), { left: 0, width: 50 })
  assert.equal(placed({ from: 2100, to: 2200 }, whole), null)
  assert.deepEqual(placed({ from: 2000, to: 2000 }, whole), { left: 100, width: 0 })
})

test('labels durations as precisely as the marks need', () => {
  assert.equal(lengthLabel(1500, 500), '1.5 s')
  assert.equal(lengthLabel(2000, 1000), '2 s')
  assert.equal(lengthLabel(150_000, 30_000), '2 min 30 s')
  assert.equal(lengthLabel(90_061_000, 1000), '1 d 1 h 1 min')
})

test('zooms around the pointer and stays within the run', () => {
  assert.deepEqual(zoomed(whole, whole, 0.5, 1250), { from: 1125, to: 1625 })
  assert.deepEqual(zoomed({ from: 1125, to: 1625 }, whole, 4), whole)
  assert.deepEqual(moved({ from: 1000, to: 1500 }, whole, 2), { from: 1500, to: 2000 })
  assert.deepEqual(around({ from: 1400, to: 1600 }, whole), { from: 1350, to: 1650 })
  const least = zoomed({ from: 1000, to: 1002 }, whole, 0.1)
  assert.equal(least.to - least.from, 2)
})
