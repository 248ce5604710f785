/**
 * The time axis of a run, on which long waits are compressed: positions on the axis are milliseconds, but a break is much
 * shorter than the time that passes in it.
 */
import { lengthLabel, partsOf, type Span, stepBetween } from './time-scale'
import type { StepNode } from './step-tree'
import { type Awaiting, ms, type Step } from './types'

/** A compressed stretch: its place on the axis, and the time that passes in it. */
export type Break = { place: Span; time: Span }

/** An axis. Without breaks, positions are times. */
export type Axis = {
  /** All of it, as positions. */
  whole: Span
  breaks: Break[]
  /** The position of a time. */
  at(time: number): number
  /** The positions of a time span. */
  place(span: Span): Span
  /** The stretches between the breaks. */
  stretches: Break[]
}

const shortestGap = 2000 // no shorter wait is compressed
const longer = 3 // how many times longer than all the work a compressed wait is

/**
 * The axis of a run during which something works in the `busy` spans. In a run that is not `over`, the wait that grows
 * is not compressed.
 */
export function axisOf(whole: Span, busy: Span[], over = true): Axis {
  const gaps = gapsOf(whole, busy).filter((gap) => lengthOf(gap) >= shortestGap && (over || gap.to < whole.to))
  const work = lengthOf(whole) - sum(gaps)
  const long = gaps.filter((gap) => lengthOf(gap) > longer * work)
  if (long.length === 0) return linear(whole)
  const rest = lengthOf(whole) - sum(long)
  // Even a stretch of no length is seen.
  const least = Math.max(rest * 0.04, 1)
  const times: (Span & { long: boolean })[] = []
  let time = whole.from
  for (const gap of long) {
    times.push({ from: time, to: gap.from, long: false }, { ...gap, long: true })
    time = gap.to
  }
  times.push({ from: time, to: whole.to, long: false })
  const shown = times.filter((one) => !one.long).reduce((total, one) => total + Math.max(lengthOf(one), least), 0)
  const brief = shown * Math.min(0.18, 0.5 / long.length)
  let position = whole.from
  const pieces = times.map(({ from, to, long: isBreak }) => {
    const length = isBreak ? brief : Math.max(to - from, least)
    const piece = { isBreak, time: { from, to }, place: { from: position, to: position + length } }
    position += length
    return piece
  })
  const at = (moment: number) => {
    if (moment <= whole.from) return moment
    const piece = pieces.find((one) => moment <= one.time.to) ?? pieces[pieces.length - 1]!
    const length = lengthOf(piece.time)
    const share = length > 0 ? Math.min(1, (moment - piece.time.from) / length) : 0
    return piece.place.from + share * lengthOf(piece.place)
  }
  return {
    whole: { from: whole.from, to: position },
    breaks: pieces.filter((one) => one.isBreak),
    stretches: pieces.filter((one) => !one.isBreak),
    at,
    place: (span) => ({ from: at(span.from), to: at(span.to) }),
  }
}

function linear(whole: Span): Axis {
  return {
    whole,
    breaks: [],
    stretches: [{ place: whole, time: whole }],
    at: (time) => time,
    place: (span) => span,
  }
}

/** The spans in which a step of a run works, rather than waiting for a time, a user or its next attempt. */
export function busyOf(
  tree: StepNode[],
  whole: Span,
  waits: ReadonlyMap<string, Awaiting>,
  pauses: ReadonlyMap<string, Span[]>,
  onlyWaits: (step: Step) => boolean,
): Span[] {
  const busy: Span[] = []
  const add = ({ step, items }: StepNode): void => {
    if (items.length > 0) {
      for (const item of items) item.steps.forEach(add)
      return
    }
    const row = { status: step.status, start: ms(step.startTime), end: ms(step.endTime) }
    const parts = partsOf(row, whole, waits.get(step.nodeId), pauses.get(step.nodeId), onlyWaits(step))
    busy.push(...parts.filter((part) => !part.waits))
  }
  tree.forEach(add)
  return busy
}

/**
 * At most `most` marks within the window: offsets from the start of the run at round numbers, and at the end of each
 * break. A mark whose label does not fit into the width of the window, in pixels, is left out.
 */
export function ticksOn(
  axis: Axis,
  window: Span,
  start: number,
  most: number,
  width?: number,
): { at: number; label: string }[] {
  const seen = axis.stretches.flatMap((stretch) => {
    const place = { from: Math.max(stretch.place.from, window.from), to: Math.min(stretch.place.to, window.to) }
    if (place.to < place.from) return []
    const scale = lengthOf(stretch.place) > 0 ? lengthOf(stretch.time) / lengthOf(stretch.place) : 0
    const from = stretch.time.from + (place.from - stretch.place.from) * scale
    return [{ stretch, place, scale, time: { from, to: from + lengthOf(place) * scale } }]
  })
  const total = seen.reduce((length, { time }) => length + lengthOf(time), 0)
  const step = stepBetween(total, most)
  const apart = lengthOf(window) / (most + 1) / 1.5
  const ticks: { at: number; label: string }[] = []
  let last = Number.NEGATIVE_INFINITY
  for (const { stretch, place, scale, time } of seen) {
    const add = (moment: number, precision: number) => {
      const at = stretch.place.from + (scale > 0 ? (moment - stretch.time.from) / scale : 0)
      const atBreak = place.to < window.to && place.to - at < apart // its label would cover that of the break
      if (at - last < apart || (atBreak && at > stretch.place.from)) return
      ticks.push({ at, label: labelAt(moment - start, precision) })
      last = at
    }
    const before = axis.breaks.find((one) => one.place.to === stretch.place.from)
    if (before && place.from === stretch.place.from) {
      last = Number.NEGATIVE_INFINITY
      const precision = stepBetween(lengthOf(before.time), 100)
      // The label of the break says the same if nothing came before it.
      if (labelAt(stretch.time.from - start, precision) !== labelAt(lengthOf(before.time), precision))
        add(stretch.time.from, precision)
    }
    for (let offset = Math.ceil((time.from - start) / step) * step; start + offset <= time.to; offset += step) {
      if (ticks.length > 2 * most) break
      add(start + offset, step)
    }
  }
  if (width === undefined) return ticks
  return ticks.filter(
    ({ at, label }) => ((window.to - at) / lengthOf(window)) * width >= label.length * widest + labelSpace,
  )
}

const widest = 7 // pixels of a character, at most
const labelSpace = 8

function labelAt(offset: number, precision: number): string {
  return lengthLabel(Math.round(offset / precision) * precision, precision)
}

function gapsOf(whole: Span, busy: Span[]): Span[] {
  const gaps: Span[] = []
  let free = whole.from
  for (const span of busy.toSorted((a, b) => a.from - b.from)) {
    if (span.from > free) gaps.push({ from: free, to: Math.min(span.from, whole.to) })
    free = Math.max(free, span.to)
  }
  if (free < whole.to) gaps.push({ from: free, to: whole.to })
  return gaps
}

const lengthOf = (span: Span) => span.to - span.from
const sum = (spans: Span[]) => spans.reduce((total, span) => total + lengthOf(span), 0)
