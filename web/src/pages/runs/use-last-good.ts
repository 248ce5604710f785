import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { ListedRun } from './run-pages'

const candidates = 10

/**
 * The newest completed run of the same blueprint before a run, of the last 50, that is no retry or fork and ran the
 * nodes of its version, not some of them; null if there is none among the first ten, undefined while unknown, also
 * because of an error.
 */
export function useLastGood(run: ListedRun | null | undefined) {
  const found = useQuery({
    queryKey: ['run', run?.executionId, 'last good'],
    queryFn: async () => {
      const { runs } = await api.execution.listRuns.query({
        blueprintId: run!.blueprintId,
        status: 'completed',
        to: new Date(Date.parse(run!.createdAt!) + 1).toISOString(), // also one of the same millisecond
        limit: 51, // and the run itself
      })
      const others = runs.filter(({ executionId, retryOf }) => executionId !== run!.executionId && !retryOf)
      for (const other of others.slice(0, candidates)) {
        const record = await api.execution.getRecord.query({ executionId: other.executionId })
        if (!record.executionMetadata.otherNodes) return other
      }
      return null
    },
    enabled: Boolean(run?.createdAt),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return { good: run === null ? null : found.data, error: found.error, again: () => void found.refetch() }
}
