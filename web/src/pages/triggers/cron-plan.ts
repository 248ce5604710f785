import { parseCron } from './cron'

/** A schedule as simple choices; every plan can be written as an expression, but not vice versa. */
export type Plan = {
  /** Every few minutes, every few hours, or at times of day. */
  pace: 'minutes' | 'hours' | 'times'
  /** How many minutes or hours. */
  every: number
  /** The first and last hour of runs every few minutes. */
  from: number
  to: number
  /** The minutes; one of them with pace `hours`, none with `minutes`. */
  minutes: number[]
  /** The hours, with pace `times`. */
  hours: number[]
  /** The days: all, some weekdays, or some days of the month. */
  on: 'every' | 'weekdays' | 'dates'
  /** 0 is Sunday. */
  weekdays: number[]
  dates: number[]
  /** All months if empty. */
  months: number[]
}

/** Numbers of minutes and hours that divide an hour and a day. */
export const paces = { minutes: [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30], hours: [1, 2, 3, 4, 6, 8, 12] }

/** The initial plan: every weekday at nine. */
export const firstPlan: Plan = {
  pace: 'times',
  every: 15,
  from: 0,
  to: 23,
  minutes: [0],
  hours: [9],
  on: 'weekdays',
  weekdays: [1, 2, 3, 4, 5],
  dates: [1],
  months: [],
}

/** Writes a plan as an expression. */
export function writeCron(plan: Plan): string {
  const minute =
    plan.pace === 'minutes'
      ? plan.every === 1
        ? '*'
        : `*/${plan.every}`
      : write(plan.minutes.length > 0 ? plan.minutes : [0])
  const hour =
    plan.pace === 'hours'
      ? plan.every === 1
        ? '*'
        : `*/${plan.every}`
      : plan.pace === 'minutes'
        ? plan.from <= 0 && plan.to >= 23
          ? '*'
          : write(range(plan.from, Math.max(plan.from, plan.to)))
        : write(plan.hours.length > 0 ? plan.hours : [0])
  const date = plan.on === 'dates' && plan.dates.length > 0 && plan.dates.length < 31 ? write(plan.dates) : '*'
  const weekday =
    plan.on === 'weekdays' && plan.weekdays.length > 0 && plan.weekdays.length < 7 ? write(plan.weekdays) : '*'
  const month = plan.months.length > 0 && plan.months.length < 12 ? write(plan.months) : '*'
  return `${minute} ${hour} ${date} ${month} ${weekday}`
}

/** Parses a plan; null for an expression that no plan can represent. */
export function readPlan(expression: string): Plan | null {
  const schedule = parseCron(expression)
  if (!schedule) return null
  const [minute, hour, date, , weekday] = schedule.texts
  const { minutes, hours, days, months, weekdays } = schedule
  // A star does not restrict; with a step, as in `*/2`, day and weekday combine in a way that simple choices do not
  // have.
  if ((date !== '*' && weekday !== '*') || date.includes('*/') || weekday.includes('*/')) return null
  const plan: Plan = {
    ...firstPlan,
    on: 'every',
    minutes,
    hours,
    ...(weekday !== '*' && { on: 'weekdays' as const, weekdays }),
    ...(date !== '*' && { on: 'dates' as const, dates: days }),
    months: months.length === 12 ? [] : months,
  }
  const everyMinutes = paces.minutes.find((one) => minute === `*/${one}` || (minute === '*' && one === 1))
  if (everyMinutes) {
    const [from, to] = [hours[0]!, hours.at(-1)!]
    if (hour.includes('/') || hours.length !== to - from + 1) return null
    return { ...plan, pace: 'minutes', every: everyMinutes, from, to, minutes: [0], hours: [9] }
  }
  const everyHours = paces.hours.find((one) => hour === `*/${one}` || (hour === '*' && one === 1))
  if (minute.includes('*')) return null
  if (everyHours) return minutes.length === 1 ? { ...plan, pace: 'hours', every: everyHours, hours: [9] } : null
  if (hour.includes('*')) return null
  return { ...plan, pace: 'times' }
}

// `1-5`, `0,30`: spans of three or more are abbreviated.
function write(values: number[]): string {
  const sorted = [...new Set(values)].sort((a, b) => a - b)
  const parts: string[] = []
  for (let at = 0; at < sorted.length;) {
    let end = at
    while (sorted[end + 1] === sorted[end]! + 1) end++
    if (end - at >= 2) parts.push(`${sorted[at]}-${sorted[end]}`)
    else for (let one = at; one <= end; one++) parts.push(String(sorted[one]))
    at = end + 1
  }
  return parts.join(',')
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
