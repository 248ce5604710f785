import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { revive } from './digits'
import { parseJson } from './json'
import { markAnswered, markAway } from './reach'
import type { AppRouter } from './router.gen'
import { EventStream } from './stream'

/** The input of each procedure: `Inputs['blueprint']['list']`. */
export type Inputs = inferRouterInputs<AppRouter>
/** The output of each procedure: `Outputs['blueprint']['list']`. */
export type Outputs = inferRouterOutputs<AppRouter>

const url = '/app/trpc'

// The server expects superjson's envelope; plain JSON needs no more of it than this.
function envelope(read: (value: unknown) => unknown) {
  const serialize = (value: unknown) => (value === undefined ? undefined : { json: value })
  const deserialize = (value: { json?: unknown } | undefined) => read(value?.json)
  return { input: { serialize, deserialize }, output: { serialize, deserialize } }
}

// Parses responses with parseJson, so that numbers keep their digits, and records whether the server responds at all.
async function call(input: RequestInfo | URL, init?: RequestInit) {
  let answer: Response
  try {
    answer = await fetch(input, { ...init, credentials: 'same-origin' })
  } catch (failure) {
    if (!init?.signal?.aborted) markAway()
    throw failure
  }
  return { body: answer.body, headers: answer.headers, ok: answer.ok, status: answer.status, json: () => read(answer) }
}

async function read(answer: Response): Promise<unknown> {
  const text = await answer.text()
  try {
    const value = parseJson(text)
    markAnswered()
    return value
  } catch (failure) {
    if (answer.status >= 500) markAway() // a proxy that does not reach the server
    throw failure
  }
}

/**
 * The server's procedures: `api.blueprint.list.query({ page: 1 })`, `api.blueprint.delete.mutate({ id })`,
 * `api.execution.subscribe.subscribe({ executionId }, { onData, onError, onComplete })`. Concurrent calls are batched.
 * Errors are TRPCClientError; describeError parses them.
 */
export const api = createTRPCClient<AppRouter>({
  links: [
    splitLink({
      condition: (operation) => operation.type === 'subscription',
      true: httpSubscriptionLink({ url, transformer: envelope(revive), EventSource: EventStream }),
      false: httpBatchLink({
        url,
        transformer: envelope((value) => value),
        maxItems: 20,
        maxURLLength: 2000,
        fetch: call as typeof fetch,
      }),
    }),
  ],
})
