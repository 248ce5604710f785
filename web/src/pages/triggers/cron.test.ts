import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCron } from './cron.ts'
import { cronInWords, scheduleInWords } from './cron-words.ts'
import { firstPlan, readPlan, writeCron } from './cron-plan.ts'

test('refuses expressions that the server refuses', () => {
  for (const text of [
    '',
    '* * * *',
    '* * * * * *',
    '@reboot',
    '60 * * * *',
    '70/5 * * * *',
    '*/0 * * * *',
    '*/61 * * * *',
    '5,* * * * *',
    '5-1 * * * *',
    '1,,2 * * * *',
    '0 0 L * *',
    '0 0 * JANUARY *',
    'MON * * * *',
    '0 0 * * 7/2',
    '0 0 * * SUN-SUN',
    '0 0 * * 5-0',
    '001 * * * *',
    '0 0 * * 8',
    '1-2-3 * * * *',
    '1/2/3 * * * *',
    '1- * * * *',
  ]) {
    assert.equal(parseCron(text), null, text)
  }
})

test('converts fields to values', () => {
  const cases: [string, Partial<ReturnType<typeof parseCron>>][] = [
    ['*/20 9-17/4 1 JAN,jun *', { minutes: [0, 20, 40], hours: [9, 13, 17], months: [1, 6], fixed: false, both: true }],
    [
      '50/3 0 29-31 2 1-7/3',
      { minutes: [50, 53, 56, 59], days: [29, 30, 31], weekdays: [0, 1, 4], fixed: true, both: false },
    ],
    ['0 0 * * FRI-SUN', { weekdays: [0, 5, 6] }],
    ['@weekly', { weekdays: [0], hours: [0] }],
    ['  0\t0 * * 1/2 ', { weekdays: [1, 3, 5] }],
  ]
  for (const [text, want] of cases) {
    const got = parseCron(text)!
    for (const [key, value] of Object.entries(want!)) assert.deepEqual(got[key as 'minutes'], value, `${text} ${key}`)
  }
})

test('describes expressions', () => {
  const cases: Record<string, string> = {
    '* * * * *': 'every minute',
    '*/15 * * * *': 'every 15 minutes',
    '0 * * * *': 'every hour',
    '30 * * * *': 'every hour at minute 30',
    '0 */2 * * *': 'every 2 hours',
    '15 */6 * * *': 'every day at 00:15, 06:15, 12:15 and 18:15',
    '0 9 * * *': 'every day at 09:00',
    '0 9 * * 1-5': 'every weekday at 09:00',
    '0 9,17 * * 1,4': 'every Monday and Thursday at 09:00 and 17:00',
    '30 8 1,15 * *': 'on the 1st and 15th of every month at 08:30',
    '@yearly': 'on the 1st of January at 00:00',
    '*/10 9-17 * * MON-FRI': 'every 10 minutes from 09:00 to 17:59, every weekday',
    '0 8-18 * * *': 'every hour from 08:00 to 18:00',
    '0 0 * 6-8 *': 'every day in June, July and August at 00:00',
    '0 0 13 * 5': 'on the 13th of every month and every Friday at 00:00',
    '0 0 */2 * 1': 'on every 2nd day from the 1st to the 31st of every month when it is a Monday at 00:00',
    '0 12 * * 0,6': 'every Saturday and Sunday at 12:00',
    '0 0 1-7 * 1': 'on the 1st to 7th of every month and every Monday at 00:00',
    '5,35 * * * *': 'every hour at minutes 5 and 35',
    nonsense: 'nonsense',
    '* 3 * * *': 'every minute from 03:00 to 03:59',
  }
  for (const [text, want] of Object.entries(cases)) assert.equal(cronInWords(text), want)
  assert.equal(scheduleInWords('0 9 * * 1-5', 'Europe/Berlin'), 'every weekday at 09:00, Europe/Berlin')
  assert.equal(scheduleInWords('*/5 * * * *', ''), 'every 5 minutes')
})

test('converts between builder and expression', () => {
  for (const text of [
    '* * * * *',
    '*/15 * * * *',
    '*/15 9-17 * * 1-5',
    '0 * * * *',
    '30 */6 * * *',
    '0 9 * * 1-5',
    '0,30 9,17 1,15 1,7 *',
    '5 0 1-3,28 * *',
    '0 12 * 6-8 0,6',
    '*/5 7 * * *',
  ]) {
    const plan = readPlan(text)
    assert.ok(plan, text)
    assert.equal(writeCron(plan), text)
  }
  for (const text of [
    '7-59/5 * * * *',
    '0 0 13 * 5',
    '0 0 */2 * 1',
    '5,35 */2 * * *',
    'x',
    '*/7 * * * *',
    '0 */5 * * *',
    '*/5 */2 * * *',
    '0 0 * * */2',
  ])
    assert.equal(readPlan(text), null, text)
  assert.equal(writeCron(firstPlan), '0 9 * * 1-5')
  assert.equal(writeCron(readPlan('@monthly')!), '0 0 1 * *')
  assert.equal(writeCron(readPlan('0 0 * JAN mon,tue')!), '0 0 * 1 1,2')
})
