import { Alert, Anchor, Skeleton, Text, Title } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { JsonView } from '../../parts'
import classes from './run-data.module.css'
import { isOver, type Run } from './types'
import { useLastGood } from './use-last-good'
import type { RunFacts } from './use-run-facts'
import { commonText } from '../../text/common'
import { runDataText } from '../../text/runs'

/** The input of a run and its result, side by side. */
export function RunData({ run, facts }: { run: Run; facts: RunFacts }) {
  return (
    <div className={classes.data}>
      <Given facts={facts} />
      <Outcome run={run} facts={facts} />
    </div>
  )
}

function Given({ facts: { record } }: { facts: RunFacts }) {
  const variables = record ? Object.keys(record.inputVariables).length : 0
  if (!record || (isEmpty(record.inputData) && variables === 0))
    return (
      <Box title={commonText.input}>
        <Nothing pending={record === undefined}>{record ? runDataText.noInput : runDataText.unavailable}</Nothing>
      </Box>
    )
  return (
    <Box>
      {!isEmpty(record.inputData) && (
        <JsonView
          heading={<Title order={2}>{commonText.input}</Title>}
          value={record.inputData}
          label={runDataText.inputOfTheRun}
          maxHeight="var(--data-height)"
        />
      )}
      {variables > 0 && (
        <JsonView
          heading={<Title order={2}>{commonText.variables}</Title>}
          value={record.inputVariables}
          label={runDataText.variablesOfTheRun}
          maxHeight="var(--data-height)"
        />
      )}
    </Box>
  )
}

function Outcome({ run, facts: { record, listed } }: { run: Run; facts: RunFacts }) {
  const error = listed?.error
  // The record of before the end is shown until that of the end has loaded.
  const ended = run.status === 'completed' && record?.status === 'completed'
  const cancelled = error?.startsWith('cancelled') ?? false
  return (
    <Box title={ended ? undefined : runDataText.result}>
      {error && (
        <Alert
          color={cancelled ? 'gray' : run.status === 'completed' ? 'amber' : 'red'}
          icon={cancelled ? undefined : <IconAlertTriangle size={20} aria-hidden />}
          title={
            cancelled
              ? undefined
              : run.status === 'completed'
                ? runDataText.completedWithErrors
                : runDataText.theRunFailed
          }
          className={classes.error}
        >
          {error}
          {run.status === 'failed' && !cancelled && <CompareLink listed={listed} />}
        </Alert>
      )}
      {ended && (
        <JsonView
          heading={<Title order={2}>{runDataText.result}</Title>}
          value={record.outputSummary.output}
          label={runDataText.resultOfTheRun}
          maxHeight="var(--data-height)"
        />
      )}
      {!ended && !error && (
        <Nothing pending={isOver(run.status) && record !== null}>
          {isOver(run.status) ? runDataText.unavailable : runDataText.availableWhenTheRunHasEnded}
        </Nothing>
      )}
    </Box>
  )
}

function CompareLink({ listed }: { listed: RunFacts['listed'] }) {
  const { good } = useLastGood(listed)
  if (!good || !listed) return null
  return (
    <div>
      <Anchor component={Link} href={`/runs/${listed.executionId}/compare?with=${good.executionId}`} size="sm" fw={600}>
        {runDataText.compareWithTheLastCompletedRun}
      </Anchor>
    </div>
  )
}

function Box({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <div className={classes.box}>
      {title && (
        <Title order={2} className={classes.title}>
          {title}
        </Title>
      )}
      {children}
    </div>
  )
}

function Nothing({ pending, children }: { pending: boolean; children: ReactNode }) {
  if (pending) return <Skeleton h={40} />
  return (
    <Text size="sm" c="dimmed" className={classes.nothing}>
      {children}
    </Text>
  )
}

function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0 && !('rawJSON' in value))
  )
}
