import { useEffect, useEffectEvent, useRef } from 'react'
import type { Commands } from './use-commands'

const telling = ['paused', 'failed', 'running']

/**
 * Keeps the progress of a run in view: the whole graph if that is readable, else the running node. It ends with
 * `release`, to be called when the user moves the view.
 */
export function useFollow(
  executionId: string | undefined,
  statuses: ReadonlyMap<string, string> | undefined,
  commands: Commands,
) {
  const following = useRef(false)
  const begin = useEffectEvent(() => {
    following.current = executionId !== undefined && !commands.fitReadably()
  })
  useEffect(() => begin(), [executionId]) // once per run
  const active = statuses && activeOf(statuses)
  const show = useEffectEvent((id: string) => {
    if (following.current) commands.reveal(id)
  })
  useEffect(() => {
    if (active !== undefined) show(active)
  }, [active])
  return {
    release: () => {
      following.current = false
    },
  }
}

/** The node of a run to show: one that waits, else one that failed or is running, else the last completed one. */
export function activeOf(statuses: ReadonlyMap<string, string>): string | undefined {
  for (const wanted of telling) {
    const found = [...statuses.keys()].find((id) => statuses.get(id) === wanted)
    if (found !== undefined) return found
  }
  return [...statuses.keys()].findLast((id) => statuses.get(id) === 'completed')
}
