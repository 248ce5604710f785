import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { ListedRun } from './run-pages'

/**
 * The newest completed run of the same blueprint before a run, of the last 50, that is no retry or fork; null if there
 * is none, undefined while unknown.
 */
export function useLastGood(run: ListedRun | null | undefined): ListedRun | null | undefined {
  const found = useQuery({
    queryKey: ['run', run?.executionId, 'last good'],
    queryFn: async () => {
      const { runs } = await api.execution.listRuns.query({
        blueprintId: run!.blueprintId,
        status: 'completed',
        to: new Date(Date.parse(run!.createdAt!) + 1).toISOString(), // also one of the same millisecond
        limit: 51, // and the run itself
      })
      return runs.find(({ executionId, retryOf }) => executionId !== run!.executionId && !retryOf) ?? null
    },
    enabled: Boolean(run?.createdAt),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return found.isError || run === null ? null : found.data
}
