import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import { now as present } from '../../api/clock'
import { type Column, DataTable, Duration, StatusBadge, Time } from '../../parts'
import { useNow } from '../../parts/time'
import type { ListedRun } from './run-pages'
import classes from './runs.module.css'
import { awaitWord, triggerWord } from './trigger-words'
import { ms } from './types'
import { runTableText } from '../../text/runs'
import { commonText } from '../../text/common'

type Props = { runs: ListedRun[] | undefined; ofOneBlueprint: boolean; empty?: React.ReactNode }

/** The list of runs: a table, or cards on a phone. */
export function RunTable({ runs, ofOneBlueprint, empty }: Props) {
  const columns: Column<ListedRun>[] = [
    {
      key: 'run',
      title: commonText.run,
      primary: true,
      render: (run) => <What run={run} ofOneBlueprint={ofOneBlueprint} />,
    },
    {
      key: 'status',
      title: commonText.status,
      width: '150px',
      render: (run) => (
        <StatusBadge
          status={run.error?.startsWith('cancelled') && run.status === 'failed' ? 'cancelled' : run.status}
        />
      ),
    },
    {
      key: 'started',
      title: commonText.started,
      width: '140px',
      render: (run) => <Time at={run.startTime ?? run.createdAt} past />,
    },
    { key: 'duration', title: commonText.duration, width: '110px', align: 'end', render: (run) => <Took run={run} /> },
    {
      key: 'trigger',
      title: runTableText.startedBy,
      width: '200px',
      wideOnly: true,
      render: (run) => <Who run={run} />,
    },
  ]
  return (
    <DataTable
      caption={runTableText.runsNewestFirst}
      columns={columns}
      rows={runs}
      rowKey={(run) => run.executionId}
      skeletonRows={10}
      empty={empty}
    />
  )
}

function What({ run, ofOneBlueprint }: { run: ListedRun; ofOneBlueprint: boolean }) {
  const short = `…${run.executionId.slice(-8)}`
  return (
    <div className={classes.what}>
      <Anchor component={Link} href={`/runs/${run.executionId}`} fw={550} inherit>
        {ofOneBlueprint ? runTableText.run(short) : run.blueprintTitle}
      </Anchor>
      {run.error ? (
        <span className={classes.error} data-quiet={run.error.startsWith('cancelled')} title={run.error}>
          {run.error}
        </span>
      ) : (
        <span className={classes.sub}>
          {`${ofOneBlueprint ? '' : `${short} · `}${runTableText.version(run.blueprintVersion)}`}
          {run.status === 'paused' && <span className={classes.awaits}> · {awaitWord(run.awaiting)}</span>}
        </span>
      )}
    </div>
  )
}

function Took({ run }: { run: ListedRun }) {
  const now = Math.max(useNow(), present())
  if (run.durationMs !== null) return <Duration ms={run.durationMs} />
  const start = ms(run.startTime)
  return Number.isFinite(start) && now > start ? (
    <Text span size="sm" c="dimmed">
      <Duration ms={now - start} />
    </Text>
  ) : (
    <Duration ms={null} />
  )
}

function Who({ run }: { run: ListedRun }) {
  return (
    <div className={classes.what}>
      {run.triggerId ? (
        <Anchor component={Link} href={`/triggers/${run.triggerId}`} inherit>
          {triggerWord(run.triggerType)}
        </Anchor>
      ) : run.parentExecutionId ? (
        <Anchor component={Link} href={`/runs/${run.parentExecutionId}`} inherit>
          {runTableText.unknownRun}
        </Anchor>
      ) : (
        triggerWord(null)
      )}
      <Text size="xs" c="dimmed" truncate title={run.userName}>
        {run.userName}
      </Text>
    </div>
  )
}
