import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { api } from '../../api/client'
import { describeError, isSignedOut } from '../../api/errors'
import { queryClient, sessionKey } from '../../api/query-client'
import { RunFeed, type RunSource, type RunState } from './run-feed'
import type { Run } from './types'

/** The result of useRun: the run as far as it is known, and functions to update it. */
export type LiveRun = RunState & {
  /** Adds the record returned by a resume or a cancel. */
  put(run: Run): void
  /** Fetches again after an error. */
  again(): void
}

const source: RunSource = {
  subscribe: (executionId, { onData, onError, onComplete }) =>
    api.execution.subscribe.subscribe({ executionId }, { onData: (run) => onData(run as Run), onError, onComplete })
      .unsubscribe,
  fetch: (executionId) => api.execution.getExecutionStatus.query({ executionId }),
  after: (milliseconds, call) => {
    const timer = setTimeout(call, milliseconds)
    return () => clearTimeout(timer)
  },
  isFinal: (error) => {
    if (isSignedOut(error)) void queryClient.invalidateQueries({ queryKey: sessionKey })
    return ['UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'BAD_REQUEST'].includes(describeError(error).code)
  },
}

const kept = 30_000 // milliseconds that an unused feed stays open, in case the user returns
const hiddenFor = 60_000 // milliseconds after which a hidden page unsubscribes: browsers allow few connections

type Shared = { feed: RunFeed; users: number; leave?: ReturnType<typeof setTimeout> }
const feeds = new Map<string, Shared>()
const idle: RunState = { run: null, error: null, phase: 'connecting' }

/**
 * One run with live updates until it has ended. All callers that follow the same run share one subscription. Without an
 * ID, nothing is followed.
 */
export function useRun(executionId: string | null | undefined): LiveRun {
  const id = executionId ?? ''
  const listen = useCallback((listener: () => void) => (id ? shared(id).feed.listen(listener) : () => undefined), [id])
  const state = useSyncExternalStore(listen, () => (id ? shared(id).feed.state : idle))
  useEffect(() => (id ? follow(id) : undefined), [id])
  const put = useCallback(
    (run: Run) => {
      if (id) shared(id).feed.put(run)
    },
    [id],
  )
  const again = useCallback(() => {
    if (id) shared(id).feed.again()
  }, [id])
  return { ...state, put, again }
}

function shared(id: string): Shared {
  let one = feeds.get(id)
  if (!one) {
    one = { feed: new RunFeed(id, source), users: 0 }
    feeds.set(id, one)
  }
  return one
}

function follow(id: string): () => void {
  const one = shared(id)
  clearTimeout(one.leave)
  one.users++
  one.feed.start()
  let pause: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(pause)
    if (document.hidden) pause = setTimeout(() => one.feed.stop(), hiddenFor)
    else one.feed.start()
  }
  document.addEventListener('visibilitychange', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    clearTimeout(pause)
    one.users--
    if (one.users > 0) return
    one.feed.stop()
    one.leave = setTimeout(() => {
      if (one.users === 0) feeds.delete(id)
    }, kept)
  }
}
