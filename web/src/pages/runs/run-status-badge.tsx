import { StatusBadge } from '../../parts'
import type { Run } from './types'

/** The status of a run; a cancelled one is stored as failed. */
export function RunStatusBadge({ run, error }: { run: Run; error: string | null | undefined }) {
  if (run.status === 'failed' && error?.startsWith('cancelled')) return <StatusBadge status="cancelled" size="lg" />
  return <StatusBadge status={run.status} size="lg" />
}
