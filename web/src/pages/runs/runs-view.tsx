import { Button, CloseButton, NativeSelect, Text } from '@mantine/core'
import { IconArrowUp, IconTimeline } from '@tabler/icons-react'
import { useRef } from 'react'
import { EmptyState, ErrorNote, FilterBar, SearchField, showCount, timeSpans, useUrlStates } from '../../parts'
import { BlueprintFilter } from './blueprint-filter'
import { type Range, ranges } from './run-bars'
import { RunChart } from './run-chart'
import { when } from './run-plot'
import { isFiltered, noFilters, statuses } from './run-filters'
import { RunTable } from './run-table'
import classes from './runs.module.css'
import { useRunList } from './use-run-list'
import { useWaitingRuns, WaitingRuns } from './waiting-runs'
import { Time } from '../../parts/time'
import { runsViewText } from '../../text/runs'
import { commonText } from '../../text/common'

type Props = {
  /** Limits the list to the runs of this blueprint. */
  blueprintId?: string
  /** Shown in an empty list instead of the general text. */
  begin?: React.ReactNode
}

/** The chart of runs, the waiting runs, and the list with its filters; all choices are in the address. */
export function RunsView({ blueprintId, begin }: Props) {
  const [{ over, ...filters }, set] = useUrlStates({ ...noFilters, over: '24h' })
  const range = ranges.find((one) => one === over) ?? '24h'
  const head = useRef<HTMLDivElement>(null)
  const list = useRunList(filters, blueprintId, () => (head.current?.getBoundingClientRect().top ?? 0) < 40)
  const filtered = isFiltered(blueprintId ? { ...filters, blueprint: '' } : filters)
  const chosenTime =
    filters.from && filters.to ? { start: Date.parse(filters.from), end: Date.parse(filters.to) } : null
  // The waiting runs are loaded together with the rest; until then nothing is shown that they would push down.
  const heads = useWaitingRuns(blueprintId)
  return (
    <div style={heads.isPending ? { visibility: 'hidden' } : undefined} aria-busy={heads.isPending || undefined}>
      <WaitingRuns blueprintId={blueprintId} onShowAll={() => set({ ...noFilters, status: 'paused' })} />
      <RunChart
        blueprintId={blueprintId}
        range={range}
        chosen={filters.from}
        onRange={(value: Range) => set({ over: value, from: '', to: '' })}
        onChoose={(span) => set(span ? { ...span, time: '' } : { from: '', to: '' })}
      />
      <FilterBar
        ref={head}
        label={runsViewText.filterTheRuns}
        search={
          <SearchField
            label={runsViewText.searchByRunId}
            value={filters.search}
            onSearch={(search) => set({ search })}
          />
        }
        set={[!blueprintId && filters.blueprint, filters.status, filters.time || filters.from].filter(Boolean).length}
      >
        {!blueprintId && <BlueprintFilter value={filters.blueprint} onChange={(blueprint) => set({ blueprint })} />}
        <NativeSelect
          aria-label={commonText.status}
          data={statuses}
          value={filters.status}
          onChange={(event) => set({ status: event.currentTarget.value })}
        />
        {chosenTime && Number.isFinite(chosenTime.start) && Number.isFinite(chosenTime.end) ? (
          <Button
            variant="light"
            justify="space-between"
            rightSection={<CloseButton component="span" size="sm" aria-hidden />}
            aria-label={runsViewText.timeRemoveThisFilter(when(chosenTime, range))}
            onClick={() => set({ from: '', to: '' })}
            styles={{ label: { whiteSpace: 'nowrap' } }}
            style={{ flexBasis: 'auto' }}
          >
            {when(chosenTime, range)}
          </Button>
        ) : (
          <NativeSelect
            aria-label={runsViewText.time}
            data={timeSpans}
            value={filters.time}
            onChange={(event) => set({ time: event.currentTarget.value })}
          />
        )}
      </FilterBar>
      {(list.list?.held ?? 0) > 0 && (
        <div className={classes.new} role="status">
          <Button
            size="compact-md"
            radius="xl"
            leftSection={<IconArrowUp size={16} aria-hidden />}
            onClick={() => {
              list.showNew()
              head.current?.scrollIntoView({ block: 'center' })
            }}
          >
            {showCount(list.list?.held ?? 0, runsViewText.newRun)}
          </Button>
        </div>
      )}
      {list.error && !list.list ? (
        <ErrorNote error={list.error} title={runsViewText.couldNotLoadTheRuns} onRetry={list.refetch} />
      ) : (
        <RunTable
          runs={list.list?.runs}
          ofOneBlueprint={blueprintId !== undefined}
          empty={
            list.list?.next ? undefined : filtered ? (
              <EmptyState
                icon={<IconTimeline />}
                title={runsViewText.noRunsFound}
                text={runsViewText.noRunMatchesTheseFilters}
                action={
                  <Button variant="default" onClick={() => set(noFilters)}>
                    {runsViewText.clearFilters}
                  </Button>
                }
              />
            ) : (
              <EmptyState
                icon={<IconTimeline />}
                title={runsViewText.noRunsYet}
                text={runsViewText.aRunIsOneExecutionOf}
                action={begin}
              />
            )
          }
        />
      )}
      <div className={classes.foot}>
        {list.list?.searchedUntil && (
          <Text size="sm" c="dimmed" role="status">
            {runsViewText.searchedBackTo} <Time at={list.list.searchedUntil} absolute />
            {runsViewText.olderRunsMayMatchToo}
          </Text>
        )}
        <ErrorNote error={list.olderError} title={runsViewText.couldNotLoadOlderRuns} />
        {list.list?.next && (
          <Button variant="default" loading={list.isLoadingOlder} onClick={list.loadOlder}>
            {list.list.searchedUntil ? runsViewText.searchOlderRuns : runsViewText.loadOlderRuns}
          </Button>
        )}
      </div>
    </div>
  )
}
