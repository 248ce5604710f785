import { Button, Group, Stack, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useNow } from '../../parts/time'
import { type Picture, pictureOf, showReading } from './clock-change'
import type { Schedule } from './cron'
import { dayAndTime } from './line-labels'
import classes from './pictures.module.css'
import { isZone, nextChange } from './zone'
import { clockChangeViewText } from '../../text/triggers'

/** What a schedule does at a clock change: a diagram with text; one change after the other. */
export function ClockChange({ schedule, zone }: { schedule: Schedule; zone: string }) {
  const [after, setAfter] = useState<number[]>([])
  const minute = Math.floor(useNow() / 60_000)
  const change = useMemo(() => (isZone(zone) ? nextChange(zone, after.at(-1) ?? minute) : null), [zone, after, minute])
  const picture = useMemo(() => change && pictureOf(schedule, zone, change), [schedule, zone, change])
  if (!isZone(zone))
    return (
      <Text size="sm" c="dimmed">
        {clockChangeViewText.thisBrowserDoesNotKnowThe(zone)}
      </Text>
    )
  if (!picture || !change)
    return (
      <Text size="sm" c="dimmed">
        {clockChangeViewText.clocksInDoNotChangeWithin(zone)}
        {after.length > 0 && clockChangeViewText.afterThat}.
      </Text>
    )
  return (
    <Stack gap="xs">
      <div aria-live="polite">
        {picture.words.map((sentence) => (
          <Text key={sentence} size="sm" mb={4}>
            {sentence}
          </Text>
        ))}
      </div>
      <ChangePicture picture={picture} zone={zone} />
      <Group gap="xs">
        {after.length > 0 && (
          <Button variant="subtle" size="compact-sm" onClick={() => setAfter(after.slice(0, -1))}>
            {clockChangeViewText.previousChange}
          </Button>
        )}
        <Button variant="subtle" size="compact-sm" onClick={() => setAfter([...after, change.at + 1440])}>
          {clockChangeViewText.nextChange}
        </Button>
      </Group>
    </Stack>
  )
}

const axisAt = 96

function ChangePicture({ picture, zone }: { picture: Picture; zone: string }) {
  const { ref, width } = useElementSize()
  const { change, from, to, ticks, touched, low, high, kind } = picture
  const w = Math.max(width, 280)
  const x = (minute: number) => 22 + ((minute - from) / (to - from)) * (w - 44)
  const at = x(change.at)
  const many = crowded(ticks.map((tick) => x(tick.at)))
  const every = w < 460 ? 120 : 60
  const marks = marksOf(picture, every)
  const notRun =
    kind === 'gap' || ticks.length === 0
      ? []
      : touched.map((wall) => wall - change.after).filter((minute) => !ticks.some((tick) => tick.at === minute))
  const bubble = Math.min(150, w / 2)
  const inBubble = (wall: number) => at - bubble / 2 + 14 + ((wall - low) / Math.max(1, high - low)) * (bubble - 28)
  const moved = ticks.some((tick) => tick.at === change.at) && touched.length > 0
  return (
    <>
      <div ref={ref} className={classes.frame}>
        <svg
          width={w}
          height={132}
          viewBox={`0 0 ${w} 132`}
          role="img"
          aria-label={clockChangeViewText.runsAroundTheClockChangeTo(
            dayAndTime(from * 60_000, zone),
            dayAndTime(to * 60_000, zone),
            ticks.length === 0
              ? clockChangeViewText.none
              : many
                ? clockChangeViewText.runs(ticks.length)
                : ticks.map((tick) => showReading(tick.wall)).join(', '),
          )}
        >
          {kind === 'repeat' && (
            <>
              <rect
                x={x(change.at - (high - low))}
                width={at - x(change.at - (high - low))}
                y={52}
                height={58}
                className={classes.band}
              />
              <rect x={at} width={x(change.at + (high - low)) - at} y={52} height={58} className={classes.band} />
              <text x={at - 5} y={66} textAnchor="end" className={classes.note}>
                {clockChangeViewText.first}
              </text>
              <text x={at + 5} y={66} className={classes.note}>
                {clockChangeViewText.second}
              </text>
              <text x={at} y={34} textAnchor="middle" className={classes.note}>
                {clockChangeViewText.toOccursTwice(showReading(low), showReading(high))}
              </text>
            </>
          )}
          {kind === 'gap' && (
            <>
              <rect x={at - bubble / 2} width={bubble} y={22} height={30} rx={5} className={classes.bubble} />
              <text x={at} y={14} textAnchor="middle" className={classes.note}>
                {clockChangeViewText.toIsSkipped(showReading(low), showReading(high))}
              </text>
              {!crowded(touched.map(inBubble))
                ? touched.map((wall) => (
                    <circle key={wall} cx={inBubble(wall)} cy={37} r={4.5} className={classes.silent}>
                      <title>{clockChangeViewText.doesNotExist(showReading(wall))}</title>
                    </circle>
                  ))
                : touched.map((wall) => (
                    <line
                      key={wall}
                      x1={inBubble(wall)}
                      x2={inBubble(wall)}
                      y1={30}
                      y2={44}
                      className={classes.silentThin}
                    />
                  ))}
              {moved && <path d={`M ${at} 53 V 84 m -4 -6 l 4 6 l 4 -6`} className={classes.arrow} />}
            </>
          )}
          <line x1={at} x2={at} y1={kind === 'gap' ? (moved ? 104 : 54) : 42} y2={112} className={classes.change} />
          <line x1={4} x2={w - 4} y1={axisAt} y2={axisAt} className={classes.axis} />
          {marks.map(({ minute, text }) => (
            <g key={minute}>
              <line x1={x(minute)} x2={x(minute)} y1={axisAt - 4} y2={axisAt + 8} className={classes.axis} />
              <text x={x(minute)} y={124} textAnchor="middle" className={classes.faint}>
                {text}
              </text>
            </g>
          ))}
          {notRun.map((minute) =>
            many ? (
              <line
                key={minute}
                x1={x(minute)}
                x2={x(minute)}
                y1={axisAt - 9}
                y2={axisAt + 9}
                className={classes.silentThin}
              />
            ) : (
              <circle key={minute} cx={x(minute)} cy={axisAt} r={4.5} className={classes.silent} />
            ),
          )}
          {ticks.map((tick) =>
            many ? (
              <line
                key={tick.at}
                x1={x(tick.at)}
                x2={x(tick.at)}
                y1={axisAt - 9}
                y2={axisAt + 9}
                className={classes.thin}
              />
            ) : (
              <circle key={tick.at} cx={x(tick.at)} cy={axisAt} r={5.5} className={classes.tick}>
                <title>{showReading(tick.wall)}</title>
              </circle>
            ),
          )}
        </svg>
      </div>
      <div className={classes.key}>
        <span>
          <Dot name="tick" /> {clockChangeViewText.runs2}
        </span>
        {(kind === 'gap' ? touched.length > 0 : notRun.length > 0) && (
          <span>
            <Dot name="silent" />{' '}
            {kind === 'gap' ? clockChangeViewText.skippedTime : clockChangeViewText.doesNotRunAgain}
          </span>
        )}
        <span>{clockChangeViewText.localTimeIn(zone)}</span>
      </div>
    </>
  )
}

// Reports whether dots would overlap: they are drawn as strokes then.
function crowded(places: number[]): boolean {
  return places.some((place, index) => index > 0 && place - places[index - 1]! < 12)
}

function Dot({ name }: { name: 'tick' | 'silent' }) {
  return (
    <svg width={12} height={12} aria-hidden>
      <circle cx={6} cy={6} r={4.5} className={classes[name]} />
    </svg>
  )
}

// Full hours of the clock, on each side of the change.
function marksOf({ change, from, to }: Picture, every: number) {
  const marks: { minute: number; text: string }[] = []
  for (let minute = from; minute <= to; minute++) {
    const wall = minute + (minute < change.at ? change.before : change.after)
    if (wall % 60 === 0 && (minute - change.at) % every === 0) marks.push({ minute, text: showReading(wall) })
  }
  return marks
}
