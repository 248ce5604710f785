import { Alert, Anchor, Progress, Skeleton, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { api, type Outputs } from '../../api/client'
import { DataTable, ErrorNote, KeyValue, showBytes, StatusBadge, Time, WithTimes } from '../../parts'
import { barsOf } from '../runs/run-bars'
import { RunBars, RunFigures } from '../runs/run-chart'
import { nameOf } from '../triggers/kinds'
import { Section } from './section'
import { SettingsFrame } from './settings-frame'
import classes from './status.module.css'
import { commonText } from '../../text/common'
import { statusPageText } from '../../text/settings'

type Status = Outputs['server']['getStatus']

/** /settings/status: the state of the server, for its owner. */
export default function StatusPage() {
  const status = useQuery({
    queryKey: ['status'],
    queryFn: () => api.server.getStatus.query(),
    refetchInterval: 5000,
  })
  return (
    <SettingsFrame title={statusPageText.status} text={statusPageText.onlyTheOwnerSeesThis}>
      {status.error && !status.data && (
        <ErrorNote
          error={status.error}
          title={statusPageText.couldNotLoadTheStatus}
          onRetry={() => void status.refetch()}
        />
      )}
      {status.isPending && (
        <Stack>
          <Skeleton h={60} />
          <Skeleton h={220} />
          <Skeleton h={160} />
        </Stack>
      )}
      {status.data && (
        <>
          <Summary of={status.data} />
          <Section title={statusPageText.runsOfTheLast24Hours}>
            <div className={classes.chart}>
              <RunFigures totals={status.data.totals} />
              <RunBars {...barsOf(status.data.hours, '24h')} range="24h" />
            </div>
          </Section>
          <Section title={statusPageText.now}>
            <Tiles of={status.data} />
          </Section>
          <Section title={statusPageText.nextRuns} text={statusPageText.yourSchedules}>
            <NextRuns />
          </Section>
          {status.data.processes.length > 0 && (
            <Section title={statusPageText.processes}>
              <Processes of={status.data.processes} />
            </Section>
          )}
          <Section title={statusPageText.checks}>
            <Checks of={status.data.checks} />
          </Section>
          <Section title={statusPageText.versions} boxed>
            <KeyValue
              pairs={[
                ['blueprintd', status.data.version],
                ['Go', status.data.goVersion],
                [
                  statusPageText.diskOfTheDatabase,
                  statusPageText.versionAndSchema(
                    statusPageText.databases[status.data.database],
                    status.data.schemaVersion,
                  ),
                ],
                [commonText.started, <Time key="started" at={status.data.startedAt} />],
              ]}
            />
          </Section>
        </>
      )}
    </SettingsFrame>
  )
}

/** Whether all is well; if not, which checks failed and what to do. */
function Summary({ of: { ready, checks } }: { of: Status }) {
  const failed = checks.filter(({ ok }) => !ok)
  if (ready && failed.length === 0)
    return (
      <Alert role="status" color="green" icon={<IconCircleCheck aria-hidden />} title={statusPageText.ready}>
        {statusPageText.allChecksPassed}
      </Alert>
    )
  return (
    <Alert
      color={ready ? 'amber' : 'red'}
      icon={<IconAlertTriangle aria-hidden />}
      title={ready ? statusPageText.checksFailed(failed.length) : statusPageText.notReady}
    >
      {failed.map(({ name, detail, hint }) => (
        <Text key={name} size="sm">
          <strong>{name}</strong>: {detail}
          {hint && <>. {hint}</>}
        </Text>
      ))}
    </Alert>
  )
}

function Tiles({ of: { runs, disk, memoryBytes, openConnections, schedules } }: { of: Status }) {
  const number = (value: number) => value.toLocaleString('en')
  const room = disk.limit > 0 ? disk.limit : disk.free === null ? 0 : disk.database + disk.free
  return (
    <dl className={classes.tiles}>
      <Tile
        name={statusPageText.activeRuns}
        value={statusPageText.ofAtMost(number(runs.working), number(runs.maxRunning))}
        share={runs.working / runs.maxRunning}
      />
      <Tile
        name={statusPageText.queuedRuns}
        value={statusPageText.ofAtMost(number(runs.queued), number(runs.maxQueued))}
        share={runs.queued / runs.maxQueued}
      />
      <Tile
        name={statusPageText.waiting}
        value={number(runs.waiting + runs.paused + runs.blocked)}
        note={[
          statusPageText.waitingForATime(number(runs.waiting)),
          statusPageText.waitingForAnAnswer(number(runs.paused)),
          ...(runs.blocked > 0 ? [statusPageText.waitingForTheirGroup(number(runs.blocked))] : []),
        ].join(', ')}
      />
      <Tile
        name={statusPageText.schedules}
        value={number(schedules.active)}
        note={statusPageText.overdueMissed(schedules.overdue, schedules.missed)}
      />
      <Tile
        name={statusPageText.diskOfTheDatabase}
        value={disk.database > 0 ? showBytes(disk.database) : statusPageText.inMemory}
        note={[
          ...(disk.free === null ? [] : [statusPageText.freeOnItsDisk(showBytes(disk.free))]),
          ...(disk.limit > 0 ? [statusPageText.limitedTo(showBytes(disk.limit))] : []),
        ].join(', ')}
        {...(room > 0 ? { share: disk.database / room } : {})}
      />
      {memoryBytes !== null && <Tile name={statusPageText.memory} value={showBytes(memoryBytes)} />}
      <Tile name={statusPageText.connections} value={number(openConnections)} />
    </dl>
  )
}

function Tile({ name, value, note, share }: { name: string; value: string; note?: string; share?: number }) {
  return (
    <div className={classes.tile}>
      <dt>{name}</dt>
      <dd className={classes.figure}>{value}</dd>
      {share !== undefined && (
        <dd>
          <Progress value={Math.min(100, 100 * share)} color={share >= 0.9 ? 'red' : 'petrol'} aria-label={name} />
        </dd>
      )}
      {note && <dd className={classes.note}>{note}</dd>}
    </div>
  )
}

function NextRuns() {
  const list = useQuery({
    queryKey: ['triggers', 'next'],
    queryFn: activeSchedules,
    refetchInterval: 30_000,
  })
  const rows = list.data
    ?.filter(({ next_at: next }) => next !== null)
    .sort((a, b) => (a.next_at! < b.next_at! ? -1 : 1))
    .slice(0, 8)
  if (list.error && !list.data) return <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
  return (
    <DataTable
      caption={statusPageText.nextRuns}
      rows={rows}
      rowKey={({ id }) => id}
      skeletonRows={3}
      empty={<Text c="dimmed">{statusPageText.noScheduleIsActive}</Text>}
      columns={[
        {
          key: 'trigger',
          title: commonText.trigger,
          primary: true,
          render: (row) => (
            <Anchor component={Link} href={`/triggers/${row.id}`} fw={550} inherit>
              {nameOf(row)}
            </Anchor>
          ),
        },
        { key: 'blueprint', title: commonText.blueprint, render: (row) => row.blueprint_title },
        { key: 'next', title: statusPageText.due, width: '180px', render: (row) => <Time at={row.next_at} /> },
      ]}
    />
  )
}

const mostPages = 10

// The list is not sorted by the next run.
async function activeSchedules() {
  const found: Outputs['blueprintTriggers']['listAll']['data'] = []
  for (let page = 1; page <= mostPages; page++) {
    const { data, pagination } = await api.blueprintTriggers.listAll.query({
      type: 'scheduled',
      active: true,
      limit: 100,
      page,
    })
    found.push(...data)
    if (page >= pagination.totalPages) break
  }
  return found
}

function Processes({ of }: { of: Status['processes'] }) {
  return (
    <DataTable
      caption={statusPageText.processes}
      rows={of}
      rowKey={({ name }) => name}
      columns={[
        { key: 'name', title: statusPageText.process, primary: true, render: ({ name }) => name },
        { key: 'state', title: commonText.status, render: ({ state }) => statusPageText.states[state] },
        { key: 'duties', title: statusPageText.duties, render: ({ duties }) => duties.join(', ') || '–' },
        {
          key: 'lease',
          title: statusPageText.lease,
          align: 'end',
          render: ({ leaseSeconds }) => `${leaseSeconds.toFixed(1)} s`,
        },
      ]}
    />
  )
}

function Checks({ of }: { of: Status['checks'] }) {
  return (
    <DataTable
      caption={statusPageText.checks}
      rows={of}
      rowKey={({ name }) => name}
      columns={[
        { key: 'name', title: statusPageText.check, primary: true, width: '150px', render: ({ name }) => name },
        {
          key: 'ok',
          title: commonText.status,
          width: '120px',
          render: ({ ok }): ReactNode => (
            <StatusBadge
              status={ok ? 'completed' : 'failed'}
              word={ok ? statusPageText.passed : statusPageText.failed}
            />
          ),
        },
        {
          key: 'detail',
          title: statusPageText.details,
          render: ({ detail, hint }) => (
            <div>
              <WithTimes text={detail} />
              {hint && (
                <Text size="xs" c="dimmed">
                  {hint}
                </Text>
              )}
            </div>
          ),
        },
      ]}
    />
  )
}
