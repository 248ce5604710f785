import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Outputs } from './client'
import { noteClock, onClock } from './clock'
import { queryClient } from './query-client'

/** The server's description of itself. */
export type ServerInfo = Outputs['server']['getInfo']

/** The query for it. */
export const serverInfo = queryOptions({
  queryKey: ['server', 'info'],
  queryFn: async () => {
    const before = Date.now()
    const info = await api.server.getInfo.query()
    noteClock({ at: Date.parse(info.now), here: (before + Date.now()) / 2, virtual: info.clock === 'virtual' })
    return info
  },
  staleTime: 60_000,
})

/** The facts about the server, as a query. With a virtual clock it polls, because the clock may be advanced at any time. */
export function useServerInfo() {
  return useQuery({ ...serverInfo, refetchInterval: ({ state }) => (state.data?.clock === 'virtual' ? 3000 : false) })
}

// Data fetched at another time of the clock is fetched again.
onClock(
  () =>
    void queryClient.invalidateQueries({
      predicate: ({ queryKey }) => queryKey[0] !== 'server' && queryKey[0] !== 'session',
    }),
)
