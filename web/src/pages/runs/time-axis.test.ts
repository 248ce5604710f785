import assert from 'node:assert/strict'
import { test } from 'node:test'
import { treeOf } from './step-tree'
import { axisOf, busyOf, ticksOn } from './time-axis'
import type { Span } from './time-scale'
import type { Step } from './types'

const span = (from: number, to: number): Span => ({ from, to })
const hour = 3_600_000

test('has times as positions without long waits', () => {
  const axis = axisOf(span(1000, 9000), [span(1000, 4000), span(6000, 9000)])
  assert.deepEqual([axis.whole, axis.breaks, axis.at(5000)], [span(1000, 9000), [], 5000])
  assert.deepEqual(axis.place(span(2000, 3000)), span(2000, 3000))
})

test('compresses a wait that is much longer than all the work', () => {
  const axis = axisOf(span(0, hour + 2000), [span(0, 1000), span(hour + 1000, hour + 2000)])
  assert.equal(axis.breaks.length, 1)
  assert.deepEqual(axis.breaks[0]!.time, span(1000, hour + 1000))
  assert.equal(axis.at(1000), 1000)
  const { from, to } = axis.breaks[0]!.place
  assert.ok(from === 1000 && to > 1100 && to < 1500, `break at ${from} to ${to}`)
  assert.equal(axis.at(hour + 1500) - to, 500)
  assert.equal(axis.whole.to, to + 1000)
  assert.ok(axis.at(hour / 2) > from && axis.at(hour / 2) < to)
})

test('compresses several waits, also at the end, and shows work of no length', () => {
  const axis = axisOf(span(0, 2 * hour), [span(0, 0), span(hour, hour)])
  assert.deepEqual(
    axis.breaks.map((one) => one.time),
    [span(0, hour), span(hour, 2 * hour)],
  )
  const work = axis.stretches[1]!.place
  assert.ok((work.to - work.from) / (axis.whole.to - axis.whole.from) > 0.1)
})

test('does not compress a wait that grows, and has only round marks then', () => {
  const growing = axisOf(span(0, 13_578), [span(0, 20)], false)
  assert.deepEqual(growing.breaks, [])
  assert.deepEqual(
    ticksOn(growing, growing.whole, 0, 6).map((tick) => tick.label),
    ['0', '5 s', '10 s'],
  )
  assert.equal(axisOf(span(0, 13_578), [span(0, 20)]).breaks.length, 1)
  const later = axisOf(span(0, hour + 30_000), [span(0, 1000), span(hour, hour + 1000)], false)
  assert.deepEqual(
    later.breaks.map(({ time }) => time),
    [span(1000, hour)],
  )
})

test('has marks at round offsets from the start', () => {
  const labels = (whole: Span, start: number, most: number) =>
    ticksOn(axisOf(whole, [whole]), whole, start, most).map((tick) => tick.label)
  assert.deepEqual(labels(span(1000, 2000), 1000, 5), ['0', '200 ms', '400 ms', '600 ms', '800 ms', '1.0 s'])
  assert.deepEqual(labels(span(0, hour), 0, 4), ['0', '15 min', '30 min', '45 min', '1 h'])
  assert.ok(labels(span(0, 4e12), 0, 6).length <= 7)
})

test('leaves out a mark whose label does not fit before the end', () => {
  const whole = span(0, 15_500)
  const labels = (width: number) => ticksOn(axisOf(whole, [whole]), whole, 0, 4, width).map(({ label }) => label)
  assert.deepEqual(labels(2000), ['0', '5 s', '10 s', '15 s'])
  assert.deepEqual(labels(600), ['0', '5 s', '10 s'])
})

test('has marks on both sides of a break, and none on it', () => {
  const axis = axisOf(span(0, hour + 604_000), [span(0, 300_000), span(hour + 300_000, hour + 604_000)])
  const ticks = ticksOn(axis, axis.whole, 0, 6)
  assert.deepEqual(
    ticks.map((tick) => tick.label),
    ['0', '2 min', '1 h 5 min', '1 h 8 min', '1 h 10 min'],
  )
  const { from, to } = axis.breaks[0]!.place
  assert.ok(ticks.every(({ at }) => at < from || at >= to))
})

test('counts the steps of items as work, and waiting steps as none', () => {
  const step = (nodeId: string, nodeType: string, from: number, to: number) =>
    ({
      nodeId,
      nodeType,
      status: 'completed',
      startTime: new Date(from).toISOString(),
      endTime: new Date(to).toISOString(),
    }) as Step
  const tree = treeOf([
    step('each', 'for-each', 10, 90),
    step('each[0]/a', 'set', 20, 30),
    step('pause', 'wait', 90, 200),
  ])
  const busy = busyOf(tree, span(10, 200), new Map(), new Map(), ({ nodeType }) => nodeType === 'wait')
  assert.deepEqual(
    busy.map(({ from, to }) => [from, to]),
    [[20, 30]],
  )
})
