import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client'
import { waitingCountText } from '../text/shell'

/** How many runs wait for somebody, for the navigation; undefined while that is not known. */
export function useWaitingCount(): number | undefined {
  const statistics = useQuery({
    queryKey: ['runs', waitingCountText.waitingCount],
    queryFn: async () => (await api.execution.getStatistics.query()).paused,
    refetchInterval: 30_000,
    retry: false,
  })
  return statistics.data
}
