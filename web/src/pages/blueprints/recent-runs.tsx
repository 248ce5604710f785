import { Link } from 'wouter'
import { now } from '../../api/clock'
import type { Summary } from '../../api/use-blueprint'
import { showDuration } from '../../parts'
import { wordOf } from '../../parts/status-badge'
import { recentRunsText } from '../../text/blueprints'
import classes from './recent-runs.module.css'

/** The newest runs of a blueprint as bars, the newest at the right: colour is status, height duration. */
export function RecentRuns({ of: { id, recent_runs: runs } }: { of: Pick<Summary, 'id' | 'recent_runs'> }) {
  if (runs.length < 2) return null // the last run is shown beside it
  const durations = runs.map(({ startTime, endTime }) =>
    startTime === null ? 0 : Math.max(0, (endTime === null ? now() : Date.parse(endTime)) - Date.parse(startTime)),
  )
  const longest = Math.max(...durations)
  const statuses = [...new Set(runs.map(({ status }) => status))]
  const words = recentRunsText.lastRuns(
    runs.length,
    statuses
      .map((status) =>
        recentRunsText.ofStatus(runs.filter((run) => run.status === status).length, wordOf(status).toLowerCase()),
      )
      .join(', '),
    showDuration(longest),
  )
  return (
    <Link href={`/blueprints/${id}/runs`} aria-label={words} title={words} className={classes.runs}>
      {runs
        .map(({ executionId, status }, at) => (
          <span key={executionId} data-status={status} style={{ height: `${heightOf(durations[at]!, longest)}%` }} />
        ))
        .reverse()}
    </Link>
  )
}

/** The height of a bar in percent. The scale is logarithmic, because a wait may take days. */
function heightOf(duration: number, longest: number): number {
  return longest === 0 ? 50 : 25 + (75 * Math.log1p(duration)) / Math.log1p(longest)
}
