import { Table, Tooltip } from '@mantine/core'
import { type KeyboardEvent, useRef, useState } from 'react'
import { showDuration } from '../../parts'
import { type Bar, type Range, unitOf } from './run-bars'
import classes from './run-chart.module.css'
import { runChartText } from '../../text/runs'

type Props = {
  bars: Bar[]
  /** The number at the top of the axis. */
  top: number
  range: Range
  /** The start of the selected bar, RFC 3339; empty: none. */
  chosen?: string
  /** Called with the time of a bar, or null when it is deselected; absent: the bars are a picture. */
  onChoose?: (span: { from: string; to: string } | null) => void
}

/** Bars over time with their axes. */
export function RunPlot({ bars, top, range, chosen = '', onChoose }: Props) {
  const group = useRef<HTMLDivElement>(null)
  const [stop, setStop] = useState(-1) // the bar that Tab focuses
  const at = stop < 0 || stop >= bars.length ? bars.length - 1 : stop
  const walk = (event: KeyboardEvent) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key]
    if (to === undefined || !bars[to]) return
    event.preventDefault()
    setStop(to)
    group.current?.querySelectorAll('button')[to]?.focus()
  }
  const marks = bars.length > 0 ? [0, 0.25, 0.5, 0.75].map((share) => Math.floor(share * bars.length)) : []
  return (
    <div className={classes.plot}>
      <div className={classes.scale} aria-hidden>
        <span>{top.toLocaleString('en')}</span>
        <span>{top % 2 === 0 ? (top / 2).toLocaleString('en') : ''}</span>
        <span>0</span>
      </div>
      <div
        ref={group}
        className={classes.bars}
        {...(onChoose
          ? { role: 'group', 'aria-label': runChartText.oneBarPerSelectABar(unitOf(range)), onKeyDown: walk }
          : { role: 'img', 'aria-label': runChartText.oneBarPer(unitOf(range)) })}
      >
        {bars.map((bar, index) => {
          const from = new Date(bar.start).toISOString()
          const pressed = chosen !== '' && Date.parse(chosen) === bar.start
          return (
            <Tooltip key={bar.start} multiline openDelay={80} label={<Words bar={bar} range={range} />}>
              {onChoose ? (
                <button
                  type="button"
                  className={classes.slot}
                  tabIndex={index === at ? 0 : -1}
                  aria-pressed={pressed}
                  aria-label={barLabel(bar, range)}
                  onFocus={() => setStop(index)}
                  onClick={() => onChoose(pressed ? null : { from, to: new Date(bar.end).toISOString() })}
                >
                  <Parts bar={bar} />
                </button>
              ) : (
                <div className={classes.slot}>
                  <Parts bar={bar} />
                </div>
              )}
            </Tooltip>
          )
        })}
      </div>
      <div className={classes.times} aria-hidden>
        {marks.map(
          (index) =>
            bars[index] && (
              <span
                key={index}
                style={{
                  left: `${((index + 0.5) / bars.length) * 100}%`,
                  transform: index === 0 ? 'none' : undefined,
                  ...(index === 0 ? { left: 0 } : {}),
                }}
              >
                {mark(bars[index].start, range)}
              </span>
            ),
        )}
      </div>
    </div>
  )
}

function Parts({ bar }: { bar: Bar }) {
  return (
    <>
      {bar.failed > 0 && (
        <span className={`${classes.failed} ${classes.part}`} style={{ height: `${bar.failedHeight * 100}%` }} />
      )}
      {bar.completed > 0 && (
        <span className={`${classes.completed} ${classes.part}`} style={{ height: `${bar.completedHeight * 100}%` }} />
      )}
    </>
  )
}

function Words({ bar, range }: { bar: Bar; range: Range }) {
  return (
    <>
      <strong>{when(bar, range)}</strong>
      <div>{runChartText.runsCompletedFailed(bar.completed, bar.failed.toLocaleString('en'))}</div>
      {bar.meanMs !== null && (
        <div>
          {runChartText.meanSlowest(
            showDuration(bar.meanMs),
            bar.slowestMs === null ? '–' : showDuration(bar.slowestMs),
          )}
        </div>
      )}
    </>
  )
}

/** The bars as a table, newest first. */
export function BarTable({ bars, range }: { bars: Bar[]; range: Range }) {
  return (
    <div className={classes.table} tabIndex={0} role="region" aria-label={runChartText.runsOverTimeAsATable}>
      <Table striped stickyHeader fz="sm" verticalSpacing={4}>
        <Table.Caption>{runChartText.newestFirst}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{runChartText.time}</Table.Th>
            <Table.Th scope="col" ta="end">
              {runChartText.completed}
            </Table.Th>
            <Table.Th scope="col" ta="end">
              {runChartText.failed}
            </Table.Th>
            <Table.Th scope="col" ta="end">
              {runChartText.mean}
            </Table.Th>
            <Table.Th scope="col" ta="end">
              {runChartText.slowest}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...bars].reverse().map((bar) => (
            <Table.Tr key={bar.start}>
              <Table.Th scope="row" fw={400}>
                {when(bar, range)}
              </Table.Th>
              <Table.Td ta="end">{bar.completed.toLocaleString('en')}</Table.Td>
              <Table.Td ta="end">{bar.failed.toLocaleString('en')}</Table.Td>
              <Table.Td ta="end">{bar.meanMs === null ? '–' : showDuration(bar.meanMs)}</Table.Td>
              <Table.Td ta="end">{bar.slowestMs === null ? '–' : showDuration(bar.slowestMs)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

function barLabel(bar: Bar, range: Range): string {
  return runChartText.completedFailed(when(bar, range), bar.completed, bar.failed)
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })
const timeFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** The time of a bar in words: `Sun 22 Nov, 10:00 to 11:00`. */
export function when({ start, end }: { start: number; end: number }, range: Range): string {
  const day = dayFormat.format(start)
  return range === '30d' ? day : `${day}, ${timeFormat.format(start)} to ${timeFormat.format(end)}`
}

function mark(start: number, range: Range): string {
  return range === '24h' ? timeFormat.format(start) : dayFormat.format(start)
}
