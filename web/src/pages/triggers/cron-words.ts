import { parseCron, type Schedule } from './cron'
import { cronWordsText } from '../../text/triggers'

/** Weekdays, Sunday first. */
export const weekdayNames = [
  cronWordsText.sunday,
  cronWordsText.monday,
  cronWordsText.tuesday,
  cronWordsText.wednesday,
  cronWordsText.thursday,
  cronWordsText.friday,
  cronWordsText.saturday,
]
/** Months, January first. */
export const monthNames = [
  cronWordsText.january,
  cronWordsText.february,
  cronWordsText.march,
  cronWordsText.april,
  cronWordsText.may,
  cronWordsText.june,
  cronWordsText.july,
  cronWordsText.august,
  cronWordsText.september,
  cronWordsText.october,
  cronWordsText.november,
  cronWordsText.december,
]

/** `every weekday at 09:00`; the expression itself if it cannot be parsed. */
export function cronInWords(expression: string): string {
  const schedule = parseCron(expression)
  if (!schedule) return expression
  const day = days(schedule)
  const time = times(schedule)
  if (day === '') return time.startsWith('at') ? cronWordsText.everyDay(time) : time
  return time.startsWith('at') ? `${day} ${time}` : `${time}, ${day}`
}

/** `every weekday at 09:00 in Europe/Berlin`. */
export function scheduleInWords(cron: string, zone: string): string {
  const said = cronInWords(cron)
  return /^every (minute|hour|\d+ minutes)$/.test(said) ? said : `${said}, ${zone || 'UTC'}`
}

/** `a, b and c`. */
export function list(items: readonly (string | number)[], last = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

/** `09:05`. */
export function clock(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

/** `1st`, `22nd`, `13th`. */
export function ordinal(day: number): string {
  const end = day % 100 > 10 && day % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][day % 10] ?? 'th')
  return `${day}${end}`
}

function times({ texts: [minuteText, hourText], minutes, hours }: Schedule): string {
  const step = stepOf(minutes, 60)
  if (minuteText === '*' || minutes.length === 60) return within(cronWordsText.everyMinute, hours)
  if (minutes.length > 1 && step && minutes[0] === 0) return within(cronWordsText.everyMinutes(step), hours)
  if (minutes.length * hours.length <= 6)
    return cronWordsText.at(list(hours.flatMap((hour) => minutes.map((minute) => clock(hour, minute)))))
  const minute = minutes.length === 1 && minutes[0] === 0 ? '' : cronWordsText.at2(minutes.length, spans(minutes))
  if (hourText === '*' || hours.length === 24)
    return minute ? cronWordsText.everyHour(minute) : cronWordsText.everyHour2
  const hourStep = stepOf(hours, 24)
  if (hourStep && hourStep > 1 && hours[0] === 0) return cronWordsText.everyHours(hourStep, minute)
  if (minutes.length === 1 && isSpan(hours))
    return cronWordsText.everyHourFromTo(clock(hours[0]!, minutes[0]!), clock(hours.at(-1)!, minutes[0]!))
  if (minutes.length === 1) return cronWordsText.at(list(hours.map((hour) => clock(hour, minutes[0]!))))
  return cronWordsText.atMinutesOfTheHours(spans(minutes), spans(hours))
}

function within(pace: string, hours: number[]): string {
  if (hours.length === 24) return pace
  if (isSpan(hours)) return cronWordsText.fromTo(pace, clock(hours[0]!, 0), clock(hours.at(-1)!, 59))
  return cronWordsText.ofTheHours(pace, spans(hours))
}

function days({ texts: [, , dayText, , weekdayText], days: dates, months, weekdays, both }: Schedule): string {
  const anyDate = dayText === '*' || dates.length === 31
  const anyWeekday = weekdayText === '*' || weekdays.length === 7
  const month = months.length === 12 ? '' : list(months.map((one) => monthNames[one - 1]!))
  // If both are restricted, either one suffices, and one of them is always true.
  if ((anyDate && anyWeekday) || (!both && (anyDate || anyWeekday))) return month ? cronWordsText.everyDayIn(month) : ''
  if (anyDate) return `${everyWeekday(weekdays)}${month && cronWordsText.in(month)}`
  const date = datesInWords(dates)
  const ofMonth = month ? cronWordsText.of(month) : cronWordsText.ofEveryMonth
  if (anyWeekday) return cronWordsText.on(date, ofMonth)
  return both
    ? cronWordsText.onWhenItIsA(
        date,
        ofMonth,
        list(
          weekdays.map((one) => weekdayNames[one]!),
          'or',
        ),
      )
    : cronWordsText.onAnd(date, ofMonth, everyWeekday(weekdays), month && cronWordsText.in(month))
}

function datesInWords(dates: number[]): string {
  const [first, last] = [ordinal(dates[0]!), ordinal(dates.at(-1)!)]
  if (dates.length > 2 && isSpan(dates)) return cronWordsText.theTo(first, last)
  const step = (dates[1] ?? 0) - dates[0]!
  if (dates.length > 4 && dates.every((day, index) => day === dates[0]! + index * step))
    return cronWordsText.everyDayFromTheToThe(ordinal(step), first, last)
  return cronWordsText.the(list(dates.map(ordinal)))
}

function everyWeekday(weekdays: number[]): string {
  const key = weekdays.join()
  if (key === '1,2,3,4,5') return cronWordsText.everyWeekday
  if (key === '0,6') return cronWordsText.everySaturdayAndSunday
  const fromMonday = [...weekdays].sort((a, b) => ((a + 6) % 7) - ((b + 6) % 7))
  return cronWordsText.every(list(fromMonday.map((one) => weekdayNames[one]!)))
}

// The step of values that divide a whole evenly, else 0.
function stepOf(values: number[], whole: number): number {
  const step = (values[1] ?? whole) - values[0]!
  const even = values.every((value, index) => value === values[0]! + index * step)
  return even && step > 0 && whole % step === 0 && values.length === whole / step ? step : 0
}

function isSpan(values: number[]): boolean {
  return values.every((value, index) => value === values[0]! + index)
}

function spans(values: number[]): string {
  return values.length > 2 && isSpan(values) ? cronWordsText.to(values[0], values.at(-1)) : list(values)
}
