import { Button, Progress, Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core'
import { IconSearchOff } from '@tabler/icons-react'
import { Link, useParams } from 'wouter'
import { useSignedIn } from '../../api/session'
import { EmptyState, ErrorNote, PageHeader } from '../../parts'
import { later } from '../../parts/later'
import { Answers } from './answers'
import { Reached } from './reached'
import { RunActions } from './run-actions'
import { RunData } from './run-data'
import { RunFactsList } from './run-facts-list'
import { RunLog } from './run-log'
import classes from './run-page.module.css'
import { RunStatusBadge } from './run-status-badge'
import { Steps } from './steps'
import { Traffic } from './traffic'
import { useRun } from './use-run'
import { useRunFacts } from './use-run-facts'
import { isOver } from './types'
import { runPageText } from '../../text/runs'
import { commonText } from '../../text/common'

const FailedGrants = later(async () => ({
  default: (await import('../authority/failed-grants')).FailedGrants,
})).Component

/** One run: its progress, its questions, and its steps. */
export default function RunPage() {
  const { id = '' } = useParams<{ id: string }>()
  return <RunView key={id} id={id} />
}

const crumbs = [{ title: commonText.runs, href: '/runs' }]

function RunView({ id }: { id: string }) {
  const { user } = useSignedIn()
  const live = useRun(id)
  const { run, phase, error } = live
  const facts = useRunFacts(id, run?.status)
  if (phase === 'missing') {
    return (
      <>
        <PageHeader title={commonText.run} breadcrumbs={crumbs} />
        <EmptyState
          icon={<IconSearchOff />}
          title={runPageText.runNotFound}
          text={runPageText.theAddressMayBeMistypedThe}
          action={
            <Button component={Link} href="/runs">
              {runPageText.allRuns}
            </Button>
          }
        />
      </>
    )
  }
  // Shown all at once, so that the page does not jump with each response.
  if (!run || facts.pending) {
    return (
      <>
        <PageHeader title={commonText.run} breadcrumbs={crumbs} />
        {error ? (
          <ErrorNote error={error} title={runPageText.couldNotLoadTheRun} onRetry={live.again} />
        ) : (
          <Stack aria-busy="true">
            <Skeleton h={90} />
            <Skeleton h={360} />
          </Stack>
        )}
      </>
    )
  }
  const title = facts.listed?.blueprintTitle ?? facts.blueprint?.title ?? commonText.run
  return (
    <>
      <PageHeader
        title={title}
        documentTitle={runPageText.run(title)}
        breadcrumbs={crumbs}
        badge={<RunStatusBadge run={run} error={facts.listed?.error} />}
        actions={<RunActions run={run} facts={facts} onRecord={live.put} />}
      />
      <VisuallyHidden role="status">{spoken(run.status)}</VisuallyHidden>
      {error !== null && <ErrorNote error={error} title={runPageText.couldNotLoadUpdatesOfThis} onRetry={live.again} />}
      <RunFactsList run={run} facts={facts} id={id} live={phase} />
      {!isOver(run.status) && (
        <div className={classes.progress}>
          <Progress value={run.progress} aria-label={runPageText.progress} size="sm" />
          <Text size="sm" c="dimmed">
            {run.progress} %
          </Text>
        </div>
      )}
      {run.status === 'failed' && run.steps.some((step) => step.error?.grant) && (
        <FailedGrants run={run} mine={facts.listed?.userId === user.id} />
      )}
      <Answers run={run} facts={facts} onRecord={live.put} onStale={live.again} />
      <RunData run={run} facts={facts} />
      <Steps run={run} facts={facts} />
      <RunLog run={run} />
      <Reached record={facts.record} />
      <Traffic run={run} facts={facts} />
    </>
  )
}

function spoken(status: string): string {
  switch (status) {
    case 'running':
      return runPageText.theRunIsActive
    case 'paused':
      return runPageText.theRunIsWaitingForInput
    case 'completed':
      return runPageText.theRunCompleted
    default:
      return runPageText.theRunFailed2
  }
}
