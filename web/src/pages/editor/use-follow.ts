import { useEffect, useEffectEvent, useRef } from 'react'
import type { Commands } from './use-commands'

const telling = ['paused', 'failed', 'running']

/**
 * Keeps the progress of a run in view: the whole graph if that is readable, else the running node. It ends with
 * `release`, to be called when the user moves the view.
 */
export function useFollow(
  executionId: string | undefined,
  statuses: Readonly<Record<string, string>> | undefined,
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
export function activeOf(statuses: Readonly<Record<string, string>>): string | undefined {
  for (const wanted of telling) {
    const found = Object.keys(statuses).find((id) => statuses[id] === wanted)
    if (found !== undefined) return found
  }
  return Object.keys(statuses).findLast((id) => statuses[id] === 'completed')
}
