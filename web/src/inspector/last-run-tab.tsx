import { Alert, NativeSelect, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { Duration, EmptyState, JsonView, StatusBadge, Time } from '../parts'
import { wordOf } from '../parts/status-badge'
import classes from './inspector.module.css'
import type { LastStep } from './types'
import { lastRunTabText } from '../text/inspector'
import { commonText } from '../text/common'

type Props = {
  /** The steps of the node in the run; within a for-each, one for each item. */
  steps: readonly LastStep[]
  title: string
  /** Whether the blueprint has a run. */
  there: boolean
  /** Whether it is still being loaded. */
  loading?: boolean
}

/** The input and output of a node in the last run. */
export function LastRunTab({ steps, title, there, loading }: Props) {
  const [chosen, setChosen] = useState<string>()
  const step = steps.find((one) => one.nodeId === chosen) ?? steps.find((one) => one.status === 'failed') ?? steps[0]
  if (!step && loading) return <Skeleton h={120} aria-label={lastRunTabText.loadingTheLastRun} />
  if (!step) {
    return (
      <EmptyState
        title={there ? lastRunTabText.notPartOfTheLastRun : lastRunTabText.noRunsYet}
        text={there ? lastRunTabText.thisNodeDidNotRunIn : lastRunTabText.runTheBlueprintToSeeThe}
      />
    )
  }
  return (
    <div className={classes.run}>
      {steps.length > 1 && (
        <NativeSelect
          label={lastRunTabText.item}
          size="xs"
          data={steps
            .slice(0, 200)
            .map((one) => ({ value: one.nodeId, label: `${one.nodeId} (${wordOf(one.status)})` }))}
          value={step.nodeId}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      )}
      <div className={classes.runLine}>
        <StatusBadge status={step.status} />
        {typeof step.durationMs === 'number' && <Duration ms={step.durationMs} />}
        {(step.attempt ?? 1) > 1 && (
          <span>
            {lastRunTabText.attempt} {step.attempt}
          </span>
        )}
        {step.startTime && <Time at={step.startTime} past />}
      </div>
      {step.error && (
        <Alert color="red" p="xs" title={step.error.code}>
          {step.error.message}
        </Alert>
      )}
      <h3 className={classes.smallHead}>{commonText.input}</h3>
      <Value
        value={step.input}
        label={lastRunTabText.inputOf(title)}
        none={step.status === 'pending' || step.status === 'skipped'}
      />
      <h3 className={classes.smallHead}>{commonText.output}</h3>
      <Value
        value={step.output}
        label={lastRunTabText.outputOf(title)}
        none={step.status !== 'completed' && (step.output === null || step.output === undefined)}
      />
    </div>
  )
}

function Value({ value, label, none }: { value: unknown; label: string; none: boolean }) {
  if (none || value === undefined) return <div className={classes.none}>{commonText.none}</div>
  return <JsonView value={value} label={label} maxHeight="320px" />
}
