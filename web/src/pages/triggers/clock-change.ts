import type { Schedule } from './cron'
import { suits } from './cron'
import { clock, list } from './cron-words'
import type { Change } from './zone'
import { clockChangeText } from '../../text/triggers'

/** A run in the diagram: its instant, and the local time then. Instants are minutes since 1970. */
export type Tick = { at: number; wall: number }

/** What a schedule does around a clock change. */
export type Picture = {
  change: Change
  /** The time span of the diagram. */
  from: number
  to: number
  ticks: Tick[]
  /** Local times of the schedule that are skipped or repeated. */
  touched: number[]
  /** The local times between the two are skipped or repeated. */
  low: number
  high: number
  kind: 'gap' | 'repeat'
  /** A description in sentences. */
  words: string[]
}

/** Computes the hours around a change. */
export function pictureOf(schedule: Schedule, zone: string, change: Change, around = 240): Picture {
  const [from, to] = [change.at - around, change.at + around]
  const [a, b] = [change.at + change.before, change.at + change.after]
  const [low, high, kind] = [Math.min(a, b), Math.max(a, b), b > a ? 'gap' : 'repeat'] as const
  const touched: number[] = []
  for (let wall = low; wall < high; wall++) if (suits(schedule, wall)) touched.push(wall)
  const ticks = ticksAround(schedule, change, from, to)
  return {
    change,
    from,
    to,
    ticks,
    touched,
    low,
    high,
    kind,
    words: wordsOf(schedule, zone, { change, touched, low, high, kind }),
  }
}

/** The runs between two instants around one clock change. */
export function ticksAround(schedule: Schedule, change: Change, from: number, to: number): Tick[] {
  const ticks: Tick[] = []
  const wallAt = (minute: number) => minute + (minute < change.at ? change.before : change.after)
  // A fixed schedule runs when the clock first shows the time, or a later one.
  let mark = wallAt(from - 1)
  if (from - 1 >= change.at) mark = Math.max(mark, change.at - 1 + change.before)
  for (let minute = from; minute < to; minute++) {
    const wall = wallAt(minute)
    if (!schedule.fixed) {
      if (suits(schedule, wall)) ticks.push({ at: minute, wall })
      continue
    }
    let due = false
    for (let one = mark + 1; one <= wall && !due; one++) due = suits(schedule, one)
    if (due) ticks.push({ at: minute, wall })
    mark = Math.max(mark, wall)
  }
  return ticks
}

/** A local time: `02:30`. */
export function showReading(wall: number): string {
  const minute = ((wall % 1440) + 1440) % 1440
  return clock(Math.floor(minute / 60), minute % 60)
}

/** The date of a local time: `Sunday, 29 March 2026`. */
export function showDate(wall: number): string {
  return new Intl.DateTimeFormat('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(wall * 60_000)
}

function wordsOf(
  schedule: Schedule,
  zone: string,
  { change, touched, low, high, kind }: Pick<Picture, 'change' | 'touched' | 'low' | 'high' | 'kind'>,
): string[] {
  const name = zone || 'UTC'
  const said =
    touched.length > 4
      ? clockChangeText.runTimesFromTo(touched.length, showReading(touched[0]!), showReading(touched.at(-1)!))
      : list(touched.map(showReading))
  const one = touched.length === 1
  const first =
    kind === 'gap'
      ? clockChangeText.clocksInGoForwardFromTo(
          showDate(change.at + change.before),
          name,
          showReading(low),
          showReading(high),
        )
      : clockChangeText.clocksInGoBackFromTo(
          showDate(change.at + change.after),
          name,
          showReading(high),
          showReading(low),
        )
  if (!schedule.fixed) {
    return [
      first,
      kind === 'gap'
        ? clockChangeText.theMinuteOrHourOfThis
        : clockChangeText.theMinuteOrHourOfThis2(
            touched.length > 0 ? clockChangeText.itRunsInBothHours : clockChangeText.noRunFallsIntoThisTime,
          ),
    ]
  }
  if (touched.length === 0) return [first, clockChangeText.noRunFallsIntoThisTime2]
  return [
    first,
    kind === 'gap'
      ? clockChangeText.notExistMinuteAndHourAre(said, one, showReading(high))
      : clockChangeText.twiceMinuteAndHourAreFixed(said, one),
  ]
}
