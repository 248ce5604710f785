import { Button, Title } from '@mantine/core'
import { IconHandStop } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api } from '../../api/client'
import { Time } from '../../parts'
import { useOrganizationFilter } from '../../shell/organization'
import classes from './runs.module.css'
import { awaitWord } from './trigger-words'
import { waitingRunsText } from '../../text/runs'
import { commonText } from '../../text/common'

const shown = 5

/** The newest runs that wait for an answer. */
export function useWaitingRuns(blueprintId?: string) {
  const organizationId = useOrganizationFilter().id
  return useQuery({
    queryKey: ['runs', 'waiting', blueprintId, organizationId],
    queryFn: () =>
      api.execution.listRuns.query({
        ...(blueprintId ? { blueprintId } : organizationId ? { organizationId } : {}),
        status: 'paused',
        limit: shown,
      }),
    refetchInterval: 10_000,
  })
}

/** The runs that wait for input, at the top of the page; empty if there are none. */
export function WaitingRuns({ blueprintId, onShowAll }: { blueprintId?: string; onShowAll: () => void }) {
  const waiting = useWaitingRuns(blueprintId)
  const runs = waiting.data?.runs ?? []
  if (runs.length === 0) return null
  return (
    <section className={classes.waiting} aria-labelledby="waiting-runs">
      <Title order={2} size="h4" id="waiting-runs">
        <IconHandStop size={18} aria-hidden />
        {waitingRunsText.waitingForInput}
      </Title>
      <ul>
        {runs.map((run) => (
          <li key={run.executionId}>
            <span>
              <strong>{run.blueprintTitle}</strong> {awaitWord(run.awaiting)}
            </span>
            <span>
              {waitingRunsText.started} <Time at={run.startTime} past />
            </span>
            <Button
              component={Link}
              href={`/runs/${run.executionId}`}
              size="compact-md"
              variant="default"
              aria-label={waitingRunsText.review(run.blueprintTitle)}
            >
              {commonText.review}
            </Button>
          </li>
        ))}
      </ul>
      {waiting.data?.next && (
        <p>
          <Button variant="subtle" size="compact-sm" onClick={onShowAll}>
            {waitingRunsText.showAllWaitingRuns}
          </Button>
        </p>
      )}
    </section>
  )
}
