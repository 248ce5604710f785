import { Button, SegmentedControl, Skeleton, Table, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useRef, useState } from 'react'
import { api } from '../../api/client'
import { now } from '../../api/clock'
import { ErrorNote, showDuration } from '../../parts'
import { useOrganizationFilter } from '../../shell/organization'
import { type Bar, barsOf, failureRate, questionOf, type Range, ranges, unitOf } from './run-bars'
import classes from './run-chart.module.css'
import { runChartText } from '../../text/runs'

type Props = {
  blueprintId?: string
  range: Range
  onRange: (range: Range) => void
  /** The start of the selected bar, RFC 3339; empty: none. */
  chosen: string
  /** Called with the time of a bar, or null when it is deselected. */
  onChoose: (span: { from: string; to: string } | null) => void
}

const words: Record<Range, string> = {
  '24h': runChartText.n24Hours,
  '7d': runChartText.n7Days,
  '30d': runChartText.n30Days,
}

/** Results of runs over the last hours or days: a bar for each period, and the same as a table. */
export function RunChart({ blueprintId, range, onRange, chosen, onChoose }: Props) {
  const organizationId = useOrganizationFilter().id
  const [table, setTable] = useState(false)
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const statistics = useQuery({
    queryKey: ['runs', 'statistics', blueprintId, organizationId, range],
    queryFn: () =>
      api.execution.getStatistics.query({
        ...(blueprintId ? { blueprintId } : organizationId ? { organizationId } : {}),
        ...questionOf(range, now()),
        timezone,
      }),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  })
  const { data } = statistics
  if (statistics.isError && !data)
    return (
      <div className={classes.frame}>
        <ErrorNote
          error={statistics.error}
          title={runChartText.couldNotLoadTheRunChart}
          onRetry={() => void statistics.refetch()}
        />
      </div>
    )
  const { bars, top } = barsOf(data?.buckets ?? [], range)
  const totals = data?.totals
  const figures: [string, string][] = [
    [runChartText.completed, totals ? totals.completed.toLocaleString('en') : ''],
    [runChartText.failed, totals ? totals.failed.toLocaleString('en') : ''],
    [runChartText.failureRate, totals ? (failureRate(totals.completed, totals.failed) ?? '–') : ''],
    [runChartText.meanDuration, totals ? (totals.meanMs === null ? '–' : showDuration(totals.meanMs)) : ''],
    [runChartText.slowest, totals ? (totals.slowestMs === null ? '–' : showDuration(totals.slowestMs)) : ''],
    [runChartText.runningNow, data ? data.running.toLocaleString('en') : ''],
    [runChartText.waitingNow, data ? data.paused.toLocaleString('en') : ''],
  ]
  return (
    <section className={classes.frame} aria-label={runChartText.runsOfTheLast(words[range])}>
      <div className={classes.head}>
        <dl className={classes.figures}>
          {figures.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value || <Skeleton h={18} w={48} mt={5} />}</dd>
            </div>
          ))}
        </dl>
        <SegmentedControl
          aria-label={runChartText.timeRange}
          size="sm"
          value={range}
          onChange={(value) => onRange(value as Range)}
          data={ranges.map((value) => ({ value, label: words[value] }))}
        />
      </div>
      {table ? (
        <BarTable bars={bars} range={range} />
      ) : (
        <Plot bars={bars} top={top} range={range} chosen={chosen} onChoose={onChoose} />
      )}
      <div className={classes.foot}>
        <div className={classes.legend} aria-hidden>
          <span>
            <i className={classes.completed} />
            {runChartText.completed}
          </span>
          <span>
            <i className={classes.failed} />
            {runChartText.failed}
          </span>
        </div>
        <Button variant="subtle" size="compact-sm" color="gray" onClick={() => setTable(!table)}>
          {table ? runChartText.showChart : runChartText.showTable}
        </Button>
      </div>
    </section>
  )
}

function Plot({
  bars,
  top,
  range,
  chosen,
  onChoose,
}: { bars: Bar[]; top: number; range: Range } & Pick<Props, 'chosen' | 'onChoose'>) {
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
        role="group"
        aria-label={runChartText.oneBarPerSelectABar(unitOf(range))}
        onKeyDown={walk}
      >
        {bars.map((bar, index) => {
          const from = new Date(bar.start).toISOString()
          const pressed = chosen !== '' && Date.parse(chosen) === bar.start
          return (
            <Tooltip key={bar.start} multiline openDelay={80} label={<Words bar={bar} range={range} />}>
              <button
                type="button"
                className={classes.slot}
                tabIndex={index === at ? 0 : -1}
                aria-pressed={pressed}
                aria-label={barLabel(bar, range)}
                onFocus={() => setStop(index)}
                onClick={() => onChoose(pressed ? null : { from, to: new Date(bar.end).toISOString() })}
              >
                {bar.failed > 0 && (
                  <span
                    className={`${classes.failed} ${classes.part}`}
                    style={{ height: `${bar.failedHeight * 100}%` }}
                  />
                )}
                {bar.completed > 0 && (
                  <span
                    className={`${classes.completed} ${classes.part}`}
                    style={{ height: `${bar.completedHeight * 100}%` }}
                  />
                )}
              </button>
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

function BarTable({ bars, range }: { bars: Bar[]; range: Range }) {
  return (
    <div className={classes.table} tabIndex={0} role="region" aria-label={runChartText.runsOverTimeAsATable}>
      <Table striped stickyHeader fz="sm" verticalSpacing={4}>
        <Table.Caption>{runChartText.newestFirst}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{runChartText.time}</Table.Th>
            <Table.Th ta="end">{runChartText.completed}</Table.Th>
            <Table.Th ta="end">{runChartText.failed}</Table.Th>
            <Table.Th ta="end">{runChartText.mean}</Table.Th>
            <Table.Th ta="end">{runChartText.slowest}</Table.Th>
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
