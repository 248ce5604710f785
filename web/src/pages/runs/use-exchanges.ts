import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { isOver, type Run } from './types'

/** The exchanges of a run with other services, while `wanted`. Those of an active run are polled. */
export function useExchanges(run: Run, wanted = true) {
  const over = isOver(run.status)
  return useQuery({
    queryKey: ['run', run.id, 'exchanges', over],
    queryFn: () => api.execution.getExchanges.query({ executionId: run.id }),
    enabled: wanted && run.status !== 'not_found',
    placeholderData: (before) => before,
    retry: false,
    staleTime: over ? Number.POSITIVE_INFINITY : 0,
    refetchInterval: ({ state }) => (over || state.data?.recorded === false ? false : 4000),
  })
}
