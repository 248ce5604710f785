import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pictureOf, showReading } from './clock-change.ts'
import { parseCron } from './cron.ts'
import { nextChange, offset } from './zone.ts'

// Zone, expression, the minute of the change, and the runs around it in minutes from the change, as the server computes
// them.
const known: [string, string, number, number[]][] = [
  ['Europe/Berlin', '30 2 * * *', 29579100, [0]],
  ['Europe/Berlin', '15,45 1-3 * * *', 29579100, [-45, -15, 0, 15, 45]],
  ['Europe/Berlin', '30 */1 * * *', 29579100, [-210, -150, -90, -30, 30, 90, 150, 210]],
  ['Europe/Berlin', '0 3 * * *', 29579100, [0]],
  ['Europe/Berlin', '30 2 * * *', 29881500, [-30]],
  ['Europe/Berlin', '15,45 1-3 * * *', 29881500, [-105, -75, -45, -15, 75, 105]],
  ['Europe/Berlin', '30 */1 * * *', 29881500, [-210, -150, -90, -30, 30, 90, 150, 210]],
  ['Europe/Berlin', '0 3 * * *', 29881500, [60]],
  ['America/New_York', '30 2 * * *', 29891880, [90]],
  ['America/New_York', '15,45 1-3 * * *', 29891880, [-45, -15, 75, 105, 135, 165]],
  ['America/New_York', '30 */1 * * *', 29891880, [-210, -150, -90, -30, 30, 90, 150, 210]],
  ['America/New_York', '0 3 * * *', 29891880, [120]],
  ['Australia/Lord_Howe', '30 2 * * *', 29850690, [0]],
  ['Australia/Lord_Howe', '15,45 1-3 * * *', 29850690, [-45, -15, 0, 15, 45, 75]],
  ['Australia/Lord_Howe', '30 */1 * * *', 29850690, [-210, -150, -90, -30, 0, 60, 120, 180]],
  ['Australia/Lord_Howe', '0 3 * * *', 29850690, [30]],
  ['Australia/Lord_Howe', '30 2 * * *', 30112740, [60]],
  ['Australia/Lord_Howe', '15,45 1-3 * * *', 30112740, [-45, -15, 45, 75, 105, 135]],
  ['Australia/Lord_Howe', '30 */1 * * *', 30112740, [-210, -150, -90, -30, 0, 60, 120, 180]],
  ['Australia/Lord_Howe', '0 3 * * *', 30112740, [90]],
]

test('lists the same runs around a clock change as the server', () => {
  for (const [zone, cron, at, ticks] of known) {
    const change = nextChange(zone, at - 90 * 1440)!
    assert.equal(change.at, at, zone)
    assert.deepEqual(
      pictureOf(parseCron(cron)!, zone, change).ticks.map((tick) => tick.at - at),
      ticks,
      `${zone} ${cron} ${at}`,
    )
  }
})

test('finds offsets and changes', () => {
  const winter = Date.UTC(2026, 0, 15) / 60_000
  assert.equal(offset(winter, 'Asia/Kolkata'), 330)
  assert.equal(offset(winter, 'America/New_York'), -300)
  assert.equal(nextChange('UTC', winter), null)
  assert.equal(nextChange('Asia/Tokyo', winter), null)
  assert.deepEqual(nextChange('Europe/Berlin', winter), {
    at: Date.UTC(2026, 2, 29, 1) / 60_000,
    before: 60,
    after: 120,
  })
})

test('describes changes', () => {
  const gap = nextChange('Europe/Berlin', Date.UTC(2026, 0, 15) / 60_000)!
  const repeat = nextChange('Europe/Berlin', gap.at)!
  const say = (cron: string, change = gap) => pictureOf(parseCron(cron)!, 'Europe/Berlin', change).words.join(' ')
  assert.match(
    say('30 2 * * *'),
    /Sunday, 29 March 2026: clocks in Europe\/Berlin go forward from 02:00 to 03:00.* 02:30 does not exist\. .* runs once at the first instant after the gap: 03:00\.$/,
  )
  assert.match(
    say('30 2 * * *', repeat),
    /go back from 03:00 to 02:00.* 02:30 occurs twice\. .* runs only the first time\.$/,
  )
  assert.match(say('0 9 * * *'), /No run falls into this time/)
  assert.match(say('*/10 * * * *', repeat), /it runs in both hours/)
  assert.match(say('*/10 2 * * *'), /continues through the change/)
  assert.match(say('0-59 2 * * *'), /60 run times, from 02:00 to 02:59, do not exist/)
  assert.equal(showReading(-30), '23:30')
})
