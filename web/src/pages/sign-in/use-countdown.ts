import { useEffect, useState } from 'react'

/** A countdown of whole seconds: `left` is 0 if it is over or there is none, and `start` starts another. */
export function useCountdown(): { left: number; start: (seconds: number) => void } {
  const [{ until, now }, setState] = useState({ until: 0, now: 0 })
  useEffect(() => {
    if (until === 0) return
    const timer = setInterval(
      () =>
        setState((before) =>
          before.now >= before.until ? before : { ...before, now: Math.min(before.until, Date.now()) },
        ),
      500,
    )
    return () => clearInterval(timer)
  }, [until])
  return {
    left: Math.max(0, Math.ceil((until - now) / 1000)),
    start: (seconds) => setState({ until: Date.now() + seconds * 1000, now: Date.now() }),
  }
}

/** Remaining seconds as `4:09`, `0:05`. */
export function showCountdown(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
