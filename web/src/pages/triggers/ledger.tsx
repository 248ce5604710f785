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
  Pager,
  SearchField,
  StatusBadge,
  Time,
  useUrlStates,
} from '../../parts'
import { FiringDrawer } from './firing-drawer'
import { decisions, isFiltered, noFilters, perPage, questionFor, statuses, times } from './ledger-filters'
import { RedeliverSeveral } from './redeliver-several'
import classes from './triggers.module.css'
import type { Firing, Trigger } from './types'
import { sources } from './kinds'

/** Everything that came to a trigger, newest first, with the reason for what was decided. */
export function Ledger({ trigger }: { trigger: Trigger }) {
  const [{ firing, ...filters }, set] = useUrlStates({ ...noFilters, firing: '' })
  // What stands in the drawer may change while it is open, so the way back is kept here.
  const opener = useRef<HTMLButtonElement>(null)
  const [several, setSeveral] = useState(false)
  const first = filters.page === '1'
  const list = useQuery({
    queryKey: ['trigger', trigger.id, 'ledger', filters],
    queryFn: () =>
      api.blueprintTriggers.history.query(questionFor(trigger.id, filters, Object.keys(sources), serverNow())),
    placeholderData: keepPreviousData,
    refetchInterval: first ? 5000 : false,
  })
  const page = Math.max(1, Number.parseInt(filters.page, 10) || 1)
  const pages = Math.max(1, Math.ceil((list.data?.total ?? 0) / perPage))
  const filtered = isFiltered(filters)
  const columns: Column<Firing>[] = [
    {
      key: 'came',
      title: 'Came',
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
    { key: 'source', title: 'Source', width: '110px', render: (row) => sources[row.source] ?? row.source },
    { key: 'decision', title: 'Decision', width: '130px', render: (row) => <StatusBadge status={row.decision} /> },
    { key: 'reason', title: 'Reason', render: (row) => <span className={classes.reason}>{row.reason}</span> },
    {
      key: 'run',
      title: 'Run',
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
            <VisuallyHidden>Run </VisuallyHidden>…{row.executionId.slice(-8)}
          </Anchor>
        ) : (
          <Time at={null} none="no run" />
        ),
    },
  ]
  return (
    <>
      <div className={classes.filters} role="search" aria-label="Filter the ledger">
        <div className={classes.search}>
          <SearchField label="Search by delivery id" value={filters.key} onSearch={(key) => set({ key, page: '1' })} />
        </div>
        <NativeSelect
          aria-label="Decision"
          data={decisions}
          value={filters.decision}
          onChange={(event) => set({ decision: event.currentTarget.value, page: '1' })}
        />
        <NativeSelect
          aria-label="Source"
          data={[
            { value: '', label: 'Any source' },
            ...Object.entries(sources).map(([value, label]) => ({ value, label })),
          ]}
          value={filters.source}
          onChange={(event) => set({ source: event.currentTarget.value, page: '1' })}
        />
        <NativeSelect
          aria-label="Status of the run"
          data={statuses}
          value={filters.status}
          onChange={(event) => set({ status: event.currentTarget.value, page: '1' })}
        />
        <NativeSelect
          aria-label="Time"
          data={times}
          value={filters.time}
          onChange={(event) => set({ time: event.currentTarget.value, page: '1' })}
        />
      </div>
      {list.error && !list.data ? (
        <ErrorNote error={list.error} title="The ledger could not be read" onRetry={() => void list.refetch()} />
      ) : (
        <DataTable
          caption="Firings, newest first"
          columns={columns}
          rows={list.data?.firings}
          rowKey={(row) => row.id}
          stale={list.isPlaceholderData}
          empty={
            filtered || (list.data?.total ?? 0) > 0 ? (
              <EmptyState
                icon={<IconNotebook />}
                title="No entries found"
                text="No entry matches these filters. A delivery ID must be complete."
                action={
                  <Button variant="default" onClick={() => set(noFilters)}>
                    Clear filters
                  </Button>
                }
              />
            ) : (
              <EmptyState
                icon={<IconNotebook />}
                title="Nothing came yet"
                text="Whatever comes to this trigger gets a row here: what started a run, what was left out or refused, and why. Each can be looked at and delivered again."
                action={
                  <Button component={Link} href={`/triggers/${trigger.id}?tab=use`} variant="default">
                    How to reach it
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
          noun="firing"
          label="Pages of the ledger"
          onPage={(next) => set({ page: String(next) }, { push: true })}
        />
      )}
      {(list.data?.total ?? 0) > 0 && (
        <Group mt="sm">
          <Button variant="default" leftSection={<IconRepeat size={17} aria-hidden />} onClick={() => setSeveral(true)}>
            Deliver several again
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
