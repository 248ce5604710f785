import { Button, SegmentedControl, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useState } from 'react'
import { api } from '../../api/client'
import { now } from '../../api/clock'
import { ErrorNote, showDuration } from '../../parts'
import { useOrganizationFilter } from '../../shell/organization'
import { FactPairs } from './fact-pairs'
import { barsOf, failureRate, questionOf, type Range, ranges, type Statistics } from './run-bars'
import classes from './run-chart.module.css'
import { BarTable, RunPlot } from './run-plot'
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

type Totals = Statistics['totals']

const words: Record<Range, string> = {
  '24h': runChartText.n24Hours,
  '7d': runChartText.n7Days,
  '30d': runChartText.n30Days,
}

/** Results of runs over the last hours or days: a bar for each period, and the same as a table. */
export function RunChart({ blueprintId, range, onRange, chosen, onChoose }: Props) {
  const organizationId = useOrganizationFilter().id
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
  return (
    <section className={classes.frame} aria-label={runChartText.runsOfTheLast(words[range])}>
      <div className={classes.head}>
        <RunFigures
          totals={data?.totals}
          more={[
            [runChartText.runningNow, data ? data.running.toLocaleString('en') : ''],
            [runChartText.waitingNow, data ? data.paused.toLocaleString('en') : ''],
          ]}
        />
        <SegmentedControl
          aria-label={runChartText.timeRange}
          size="sm"
          value={range}
          onChange={(value) => onRange(value as Range)}
          data={ranges.map((value) => ({ value, label: words[value] }))}
        />
      </div>
      <RunBars bars={bars} top={top} range={range} chosen={chosen} onChoose={onChoose} />
    </section>
  )
}

/** Bars with their legend, and the same as a table. */
export function RunBars(props: ComponentProps<typeof RunPlot>) {
  const [table, setTable] = useState(false)
  return (
    <>
      {table ? <BarTable bars={props.bars} range={props.range} /> : <RunPlot {...props} />}
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
    </>
  )
}

/** The results of a period in figures; while they load, placeholders. */
export function RunFigures({
  totals,
  more = [],
}: {
  totals: Totals | undefined
  more?: [name: string, value: string][]
}) {
  const figures: [string, string][] = [
    [runChartText.completed, totals ? totals.completed.toLocaleString('en') : ''],
    [runChartText.failed, totals ? totals.failed.toLocaleString('en') : ''],
    [runChartText.failureRate, totals ? (failureRate(totals.completed, totals.failed) ?? '–') : ''],
    [runChartText.meanDuration, totals ? (totals.meanMs === null ? '–' : showDuration(totals.meanMs)) : ''],
    [runChartText.slowest, totals ? (totals.slowestMs === null ? '–' : showDuration(totals.slowestMs)) : ''],
    ...more,
  ]
  return (
    <FactPairs
      className={classes.figures}
      pairs={figures.map(([name, value]) => [name, value || <Skeleton h={18} w={48} mt={5} />])}
    />
  )
}
