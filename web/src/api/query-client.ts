import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { AWAY, describeError, isSignedOut } from './errors'
import { share } from './json'
import { onReturn } from './reach'

/** The key of the query for the session. */
export const sessionKey = ['session'] as const

/**
 * The query client. A query is retried, at most three times, only without a response or when the server requests it
 * (429, 503). A 401 anywhere refetches the session, which shows the sign-in page.
 */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (query.queryKey[0] !== sessionKey[0]) lookAgain(error)
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      if (mutation.options.mutationKey?.[0] !== sessionKey[0]) lookAgain(error)
    },
  }),
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 3 && mayHelp(error),
      retryDelay: (failures, error) =>
        Math.max((describeError(error).retryAfter ?? 0) * 1000, Math.min(500 * 2 ** failures, 8000)),
      staleTime: 5000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true, // only older data than staleTime, so that switching windows does not cause many requests
      refetchOnReconnect: true,
      networkMode: 'always', // the server may be on this computer
      structuralSharing: share,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

onReturn(() => void queryClient.invalidateQueries())

function mayHelp(error: unknown): boolean {
  const { code } = describeError(error)
  return code === AWAY || code === 'TOO_MANY_REQUESTS' || code === 'SERVICE_UNAVAILABLE'
}

function lookAgain(error: unknown): void {
  if (isSignedOut(error)) void queryClient.invalidateQueries({ queryKey: sessionKey })
}
