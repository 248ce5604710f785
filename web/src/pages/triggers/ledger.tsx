import { Anchor, Button, Group, NativeSelect, VisuallyHidden } from '@mantine/core'
import { IconNotebook, IconRepeat } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client'
import { serverNow } from '../../api/clock'
import {
  type Column,
  DataTable,
  EmptyState,
  ErrorNote,
  FilterBar,
  Pager,
  SearchField,
  StatusBadge,
  Time,
  timeSpans,
  useUrlStates,
} from '../../parts'
import { FiringDrawer } from './firing-drawer'
import { decisions, isFiltered, noFilters, perPage, questionFor, statuses } from './ledger-filters'
import { RedeliverSeveral } from './redeliver-several'
import classes from './triggers.module.css'
import type { Firing, Trigger } from './types'
import { kinds, sources } from './kinds'
import { ledgerText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** All deliveries and ticks of a trigger, newest first, with the decisions and their reasons. */
export function Ledger({ trigger }: { trigger: Trigger }) {
  const [{ firing, ...filters }, set] = useUrlStates({ ...noFilters, firing: '' })
  // The content of the drawer may change while it is open, so its opener is kept here.
  const opener = useRef<HTMLButtonElement>(null)
  const [several, setSeveral] = useState(false)
  const first = filters.page === '1'
  const list = useQuery({
    queryKey: ['trigger', trigger.id, 'ledger', filters],
    queryFn: () =>
      api.blueprintTriggers.history.query(questionFor(trigger.id, filters, [...sources.keys()], serverNow())),
    placeholderData: keepPreviousData,
    refetchInterval: first ? 5000 : false,
  })
  const page = Math.max(1, Number.parseInt(filters.page, 10) || 1)
  const pages = Math.max(1, Math.ceil((list.data?.total ?? 0) / perPage))
  const filtered = isFiltered(filters)
  const columns: Column<Firing>[] = [
    {
      key: 'came',
      title: ledgerText.received,
      width: '170px',
      primary: true,
      render: (row) => (
        <button
          type="button"
          className={classes.toggle}
          aria-haspopup="dialog"
          onClick={(event) => {
            opener.current = event.currentTarget
            set({ firing: row.id }, { push: true })
          }}
        >
          <Time at={row.receivedAt} past />
        </button>
      ),
    },
    { key: 'source', title: ledgerText.source, width: '110px', render: (row) => sources.get(row.source) ?? row.source },
    {
      key: 'decision',
      title: ledgerText.decision,
      width: '130px',
      render: (row) => <StatusBadge status={row.decision} />,
    },
    { key: 'reason', title: ledgerText.reason, render: (row) => <span className={classes.reason}>{row.reason}</span> },
    {
      key: 'run',
      title: commonText.run,
      width: '125px',
      render: (row) =>
        row.executionId ? (
          <Anchor
            component={Link}
            href={`/runs/${row.executionId}`}
            inherit
            style={{ whiteSpace: 'nowrap' }}
            title={row.executionId}
          >
            <VisuallyHidden>{commonText.run} </VisuallyHidden>…{row.executionId.slice(-8)}
          </Anchor>
        ) : (
          <Time at={null} none={ledgerText.noRun} />
        ),
    },
  ]
  return (
    <>
      <FilterBar
        label={ledgerText.filterTheLedger}
        search={
          <SearchField
            label={ledgerText.searchByDeliveryId}
            value={filters.key}
            onSearch={(key) => set({ key, page: '1' })}
          />
        }
        set={[filters.decision, filters.source, filters.status, filters.time].filter(Boolean).length}
      >
        <NativeSelect
          aria-label={ledgerText.decision}
          data={decisions}
          value={filters.decision}
          onChange={(event) => set({ decision: event.currentTarget.value, page: '1' })}
        />
        <NativeSelect
          aria-label={ledgerText.source}
          data={[
            { value: '', label: ledgerText.anySource },
            ...Array.from(sources, ([value, label]) => ({ value, label })),
          ]}
          value={filters.source}
          onChange={(event) => set({ source: event.currentTarget.value, page: '1' })}
        />
        <NativeSelect
          aria-label={ledgerText.runStatus}
          data={statuses}
          value={filters.status}
          onChange={(event) => set({ status: event.currentTarget.value, page: '1' })}
        />
        <NativeSelect
          aria-label={ledgerText.time}
          data={timeSpans}
          value={filters.time}
          onChange={(event) => set({ time: event.currentTarget.value, page: '1' })}
        />
      </FilterBar>
      {list.error && !list.data ? (
        <ErrorNote error={list.error} title={ledgerText.couldNotLoadTheLedger} onRetry={() => void list.refetch()} />
      ) : (
        <DataTable
          caption={ledgerText.firingsNewestFirst}
          columns={columns}
          rows={list.data?.firings}
          rowKey={(row) => row.id}
          stale={list.isPlaceholderData}
          empty={
            filtered || (list.data?.total ?? 0) > 0 ? (
              <EmptyState
                icon={<IconNotebook />}
                title={ledgerText.noEntriesFound}
                text={ledgerText.noEntryMatchesTheseFiltersA}
                action={
                  <Button variant="default" onClick={() => set(noFilters)}>
                    {ledgerText.clearFilters}
                  </Button>
                }
              />
            ) : (
              <EmptyState
                icon={<IconNotebook />}
                title={ledgerText.noFiringsYet}
                text={ledgerText.everyEventThatReachesThis}
                action={
                  <Button component={Link} href={`/triggers/${trigger.id}?tab=use`} variant="default">
                    {kinds[trigger.trigger_type].use}
                  </Button>
                }
              />
            )
          }
        />
      )}
      {list.data && list.data.firings.length > 0 && (
        <Pager
          page={page}
          pages={pages}
          total={list.data.total}
          noun={ledgerText.firing}
          label={ledgerText.ledgerPages}
          onPage={(next) => set({ page: String(next) }, { push: true })}
        />
      )}
      {(list.data?.total ?? 0) > 0 && (
        <Group mt="sm">
          <Button variant="default" leftSection={<IconRepeat size={17} aria-hidden />} onClick={() => setSeveral(true)}>
            {ledgerText.redeliverSeveral}
          </Button>
        </Group>
      )}
      <FiringDrawer
        id={firing}
        trigger={trigger}
        onOpen={(id) => set({ firing: id })}
        onClose={() => set({ firing: '' })}
        onClosed={() => opener.current?.focus()}
      />
      <RedeliverSeveral trigger={trigger} opened={several} onClose={() => setSeveral(false)} />
    </>
  )
}
