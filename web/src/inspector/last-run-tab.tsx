import { Alert, NativeSelect, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { Duration, EmptyState, JsonView, StatusBadge, Time } from '../parts'
import classes from './inspector.module.css'
import type { LastStep } from './types'

type Props = {
  /** The steps that the run made of the node: of one within a for-each one for each item. */
  steps: readonly LastStep[]
  title: string
  /** There is a run at all. */
  there: boolean
  /** Nobody knows yet whether there is one. */
  loading?: boolean
}

/** What went into a node in the last run and what came out. */
export function LastRunTab({ steps, title, there, loading }: Props) {
  const [chosen, setChosen] = useState<string>()
  const step = steps.find((one) => one.nodeId === chosen) ?? steps.find((one) => one.status === 'failed') ?? steps[0]
  if (!step && loading) return <Skeleton h={120} aria-label="Loading the last run" />
  if (!step) {
    return (
      <EmptyState
        title={there ? 'Not part of the last run' : 'No run yet'}
        text={
          there
            ? 'The last run had no step of this node. Run the blueprint to see what goes in and out.'
            : 'Run the blueprint: what goes into this node and what comes out is shown here, and offered where you type {{.'
        }
      />
    )
  }
  return (
    <div className={classes.run}>
      {steps.length > 1 && (
        <NativeSelect
          label="Item"
          size="xs"
          data={steps.slice(0, 200).map((one) => ({ value: one.nodeId, label: `${one.nodeId} (${one.status})` }))}
          value={step.nodeId}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      )}
      <div className={classes.runLine}>
        <StatusBadge status={step.status} />
        {typeof step.durationMs === 'number' && <Duration ms={step.durationMs} />}
        {(step.attempt ?? 1) > 1 && <span>attempt {step.attempt}</span>}
        {step.startTime && <Time at={step.startTime} past />}
      </div>
      {step.error && (
        <Alert color="red" p="xs" title={step.error.code}>
          {step.error.message}
        </Alert>
      )}
      <h3 className={classes.smallHead}>Input</h3>
      <Value
        value={step.input}
        label={`Input of ${title}`}
        none={step.status === 'pending' || step.status === 'skipped'}
      />
      <h3 className={classes.smallHead}>Output</h3>
      <Value
        value={step.output}
        label={`Output of ${title}`}
        none={step.status !== 'completed' && (step.output === null || step.output === undefined)}
      />
    </div>
  )
}

function Value({ value, label, none }: { value: unknown; label: string; none: boolean }) {
  if (none || value === undefined) return <div className={classes.none}>None</div>
  return <JsonView value={value} label={label} maxHeight="320px" />
}
