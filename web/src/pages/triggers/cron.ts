/**
 * Cron expressions of five fields, as the server parses them. An invalid one is null here; the server's message says
 * why. The server decides; this is for descriptions, the builder and the diagram of a clock change.
 */

/** A parsed expression. */
export type Schedule = {
  /** The five fields as text, with words such as @daily expanded. */
  texts: [minute: string, hour: string, day: string, month: string, weekday: string]
  minutes: number[]
  hours: number[]
  days: number[]
  months: number[]
  /** 0 is Sunday. */
  weekdays: number[]
  /** A day must match both the day of the month and the weekday, because one of them starts with a star. */
  both: boolean
  /** Minute and hour are fixed: the expression names local times, otherwise it follows elapsed time. */
  fixed: boolean
}

type Field = { low: number; high: number; last: number; names: string[] }

const fields: Field[] = [
  { low: 0, high: 59, last: 59, names: [] },
  { low: 0, high: 23, last: 23, names: [] },
  { low: 1, high: 31, last: 31, names: [] },
  { low: 1, high: 12, last: 12, names: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ') },
  { low: 0, high: 7, last: 6, names: 'SUN MON TUE WED THU FRI SAT'.split(' ') },
]

const words = new Map(
  Object.entries<string>({
    '@hourly': '0 * * * *',
    '@daily': '0 0 * * *',
    '@midnight': '0 0 * * *',
    '@weekly': '0 0 * * 0',
    '@monthly': '0 0 1 * *',
    '@yearly': '0 0 1 1 *',
    '@annually': '0 0 1 1 *',
  }),
)

/** Parses an expression; null for one that the server would refuse. */
export function parseCron(expression: string): Schedule | null {
  let texts = expression.split(/[ \t]+/).filter((text) => text !== '')
  if (texts.length === 1) texts = (words.get(texts[0]!.toLowerCase()) ?? '').split(' ')
  if (texts.length !== 5) return null
  const sets = texts.map((text, index) => parseField(text, fields[index]!))
  if (sets.some((set) => set === null)) return null
  const [minutes, hours, days, months, weekdays] = sets as number[][]
  const [minute, hour, day, , weekday] = texts as Schedule['texts']
  return {
    texts: texts as Schedule['texts'],
    minutes: minutes!,
    hours: hours!,
    days: days!,
    months: months!,
    weekdays: [...new Set(weekdays!.map((one) => one % 7))].sort((a, b) => a - b),
    both: day.startsWith('*') || weekday.startsWith('*'),
    fixed: !minute.includes('*') && !hour.includes('*'),
  }
}

/** Reports whether a date matches; weekdays start at Sunday. */
export function suitsDay(schedule: Schedule, month: number, day: number, weekday: number): boolean {
  if (!schedule.months.includes(month)) return false
  const [date, week] = [schedule.days.includes(day), schedule.weekdays.includes(weekday)]
  return schedule.both ? date && week : date || week
}

/** Reports whether a local time matches: minutes since 1970, as a clock in UTC would show them. */
export function suits(schedule: Schedule, reading: number): boolean {
  const minuteOfDay = ((reading % 1440) + 1440) % 1440
  if (!schedule.minutes.includes(minuteOfDay % 60) || !schedule.hours.includes(Math.floor(minuteOfDay / 60)))
    return false
  const date = new Date(reading * 60_000)
  return suitsDay(schedule, date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCDay())
}

function parseField(text: string, field: Field): number[] | null {
  const found = new Set<number>()
  for (const item of text.split(',')) {
    if (item === '*' && text !== '*') return null
    const range = parseItem(item, field)
    if (!range) return null
    for (let value = range.low; value <= range.high; value += range.step) found.add(value)
  }
  return [...found].sort((a, b) => a - b)
}

function parseItem(item: string, field: Field): { low: number; high: number; step: number } | null {
  const [base = '', stepText, more] = item.split('/')
  if (more !== undefined) return null
  let step = 1
  if (stepText !== undefined) {
    if (!/^\d{1,2}$/.test(stepText)) return null
    step = Number(stepText)
    if (step < 1 || step > field.last - field.low + 1) return null
  }
  if (base === '*') return { low: field.low, high: field.last, step }
  const ends = base.split('-')
  const low = parseValue(ends[0]!, field)
  if (low === null || ends.length > 2) return null
  if (ends.length === 1) {
    if (stepText === undefined) return { low, high: low, step }
    return low > field.last ? null : { low, high: field.last, step }
  }
  let high = parseValue(ends[1]!, field)
  if (high === null) return null
  if (field.names[0] === 'SUN') {
    const sunday = ends[1]!.toUpperCase() === 'SUN'
    if (low > field.last || (sunday && ends[0]!.toUpperCase() === 'SUN')) return null
    if (sunday) high = 7
  }
  return low > high ? null : { low, high, step }
}

function parseValue(text: string, field: Field): number | null {
  const name = field.names.indexOf(text.toUpperCase())
  if (name >= 0) return field.low + name
  if (!/^\d{1,2}$/.test(text)) return null
  const value = Number(text)
  return value < field.low || value > field.high ? null : value
}
