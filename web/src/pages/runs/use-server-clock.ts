import { useQuery } from '@tanstack/react-query'
import { useEffect, useReducer } from 'react'
import { api } from '../../api/client'

/**
 * The server's time in milliseconds. While `ticking` it goes on by itself, every second. A server whose clock stands
 * still (for tests) says so, and is asked again from time to time.
 */
export function useServerClock(ticking: boolean): number {
  const info = useQuery({
    queryKey: ['server', 'clock'],
    queryFn: async () => {
      const before = Date.now()
      const { now, clock } = await api.server.getInfo.query()
      const middle = (before + Date.now()) / 2
      return { at: Date.parse(now), ahead: Date.parse(now) - middle, still: clock === 'virtual' }
    },
    staleTime: 5 * 60_000,
    refetchInterval: (query) => (query.state.data?.still && ticking ? 3000 : false),
    retry: false,
  })
  const [, tick] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    if (!ticking) return
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [ticking])
  if (info.data?.still) return info.data.at
  const ahead = info.data?.ahead ?? 0
  return Date.now() + (Math.abs(ahead) < 500 ? 0 : ahead)
}
