import { ActionIcon, Anchor, CopyButton, Skeleton, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Duration, Time } from '../../parts'
import { FactPairs } from './fact-pairs'
import type { RunState } from './run-feed'
import classes from './run-page.module.css'
import { triggerWord } from './trigger-words'
import { isOver, ms, type Run } from './types'
import { lookOf } from './status-look'
import { nameOf } from './step-rows'
import { type LogRecord, type RunFacts, useChildren, useRetries } from './use-run-facts'
import { useServerClock } from './use-server-clock'
import { runFactsListText } from '../../text/runs'
import { commonText } from '../../text/common'

/** The origin and course of a run, as pairs of name and value. */
export function RunFactsList({
  run,
  facts,
  id,
  live,
}: {
  run: Run
  facts: RunFacts
  id: string
  live: RunState['phase']
}) {
  const { listed, record } = facts
  const now = useServerClock(!isOver(run.status))
  const children = useChildren(id, run)
  const retries = useRetries(id, isOver(run.status))
  const start = ms(run.startTime)
  const end = ms(run.endTime)
  const skipped = run.steps.filter((step) => step.status === 'skipped' && !step.nodeId.includes(']/')).length
  const pairs: [string, ReactNode][] = [
    [
      commonText.blueprint,
      listed ? (
        <>
          <Anchor component={Link} href={`/blueprints/${listed.blueprintId}`} inherit>
            {listed.blueprintTitle}
          </Anchor>{' '}
          {runFactsListText.version(listed.blueprintVersion)}
        </>
      ) : (
        wait(listed)
      ),
    ],
    [runFactsListText.startedBy, listed ? <StartedBy facts={facts} /> : wait(listed)],
    [commonText.started, <Time at={run.startTime} past />],
    isOver(run.status)
      ? [commonText.duration, Number.isFinite(end - start) ? <Duration ms={end - start} /> : false]
      : [runFactsListText.runningFor, <Duration ms={Number.isFinite(start) ? Math.max(0, now - start) : null} />],
    [
      commonText.steps,
      runFactsListText.ofCompleted(
        run.completedSteps,
        run.totalSteps,
        skipped ? runFactsListText.skipped(skipped) : '',
        run.failedSteps ? runFactsListText.failed(run.failedSteps) : '',
      ),
    ],
    [commonText.tokens, record && record.totalTokensUsed > 0 ? record.totalTokensUsed.toLocaleString('en') : false],
    [runFactsListText.runId, <RunId id={id} />],
    [
      record?.executionMetadata.inputEdited ? runFactsListText.forkOf : runFactsListText.retryOf,
      record?.executionMetadata.retryOf ? <Origin run={run} of={record.executionMetadata} /> : false,
    ],
    [
      runFactsListText.retriesAndForks,
      retries.runs.length > 0 ? (
        <>
          {retries.runs.map((one) => (
            <div key={one.executionId}>
              <RunLink id={one.executionId} /> {lookOf(one.status).word}{' '}
              <Anchor component={Link} href={`/runs/${one.executionId}/compare?with=${id}`} inherit>
                {runFactsListText.compare}
              </Anchor>
            </div>
          ))}
          {retries.more && (
            <Anchor component="button" type="button" onClick={retries.more} inherit>
              {runFactsListText.showOlder}
            </Anchor>
          )}
        </>
      ) : (
        false
      ),
    ],
    [runFactsListText.parentRun, listed?.parentExecutionId ? <RunLink id={listed.parentExecutionId} /> : false],
    [
      runFactsListText.childRuns,
      children.length > 0
        ? children
            .slice(0, 5)
            .map((child) => (
              <div key={child.executionId}>
                <Anchor component={Link} href={`/runs/${child.executionId}`} inherit>
                  {child.blueprintTitle}
                </Anchor>{' '}
                {child.status}
              </div>
            ))
            .concat(children.length > 5 ? [<div key="more">{runFactsListText.andMore(children.length - 5)}</div>] : [])
        : false,
    ],
    [
      runFactsListText.updates,
      isOver(run.status) || live === 'live'
        ? false
        : live === 'polling'
          ? runFactsListText.everyFewSeconds
          : 'connecting',
    ],
  ]
  return <FactPairs pairs={pairs} className={classes.facts} />
}

function wait(value: unknown): ReactNode {
  return value === null ? runFactsListText.unknown : <Skeleton h={14} w={130} mt={4} />
}

function StartedBy({ facts: { listed, record } }: { facts: RunFacts }) {
  if (!listed) return null
  const firing = record?.executionMetadata.firingId
  return (
    <>
      {listed.triggerId ? (
        <Anchor component={Link} href={`/triggers/${listed.triggerId}${firing ? `?firing=${firing}` : ''}`} inherit>
          {triggerWord(listed.triggerType)}
        </Anchor>
      ) : listed.parentExecutionId ? (
        runFactsListText.anotherRun
      ) : (
        triggerWord(null)
      )}
      {listed.userName && runFactsListText.as(listed.userName)}
    </>
  )
}

// The run that this one retries or forks.
function Origin({ run, of }: { run: Run; of: LogRecord['executionMetadata'] }) {
  const step = run.steps.find(({ nodeId }) => nodeId === of.fromNodeId)
  return (
    <>
      <RunLink id={of.retryOf!} /> {of.fromNodeId && runFactsListText.at(step ? nameOf(step) : of.fromNodeId)}{' '}
      <Anchor component={Link} href={`/runs/${run.id}/compare?with=${of.retryOf}`} inherit>
        {runFactsListText.compare}
      </Anchor>
    </>
  )
}

function RunLink({ id }: { id: string }) {
  return (
    <Anchor component={Link} href={`/runs/${id}`} inherit>
      {runFactsListText.run(id.slice(-8))}
    </Anchor>
  )
}

function RunId({ id }: { id: string }) {
  return (
    <span className={classes.id}>
      <code title={id}>…{id.slice(-8)}</code>
      <CopyButton value={id} timeout={2000}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? commonText.copied : commonText.copy}>
            <ActionIcon
              size={26}
              aria-label={runFactsListText.copyRunId}
              color={copied ? 'green' : 'gray'}
              onClick={copy}
            >
              {copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </span>
  )
}
