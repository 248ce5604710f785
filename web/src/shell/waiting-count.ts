import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client'

/** The number of runs that wait for input, for the navigation; undefined if unknown. */
export function useWaitingCount(): number | undefined {
  const statistics = useQuery({
    queryKey: ['runs', 'waiting count'],
    queryFn: async () => (await api.execution.getStatistics.query()).paused,
    refetchInterval: 30_000,
    retry: false,
  })
  return statistics.data
}
