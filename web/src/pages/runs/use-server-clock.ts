import { useEffect, useReducer } from 'react'
import { serverNow } from '../../api/clock'
import { useServerInfo } from '../../api/server-info'

/** The server's time in milliseconds. While `ticking` it is updated every second; a virtual clock stands still. */
export function useServerClock(ticking: boolean): number {
  useServerInfo()
  const [, tick] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    if (!ticking) return
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [ticking])
  return serverNow()
}
