import { TRPCClientError, createTRPCClient, httpBatchLink, httpLink, httpSubscriptionLink, splitLink, type TRPCClient } from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { envelope } from './envelope.js'
import { eventSource } from './events.js'
import type { AppRouter } from './router.gen.js'

export type { AppRouter } from './router.gen.js'

/** What each procedure takes: `Inputs['blueprint']['create']`. */
export type Inputs = inferRouterInputs<AppRouter>
/** What each procedure answers: `Outputs['blueprint']['create']`. */
export type Outputs = inferRouterOutputs<AppRouter>

/** The procedures of a server: `client.blueprint.list.query()`, `client.blueprint.execute.mutate({ id })`. */
export type Client = TRPCClient<AppRouter>

export interface ClientOptions {
  /** Where the server is: `https://flows.example.org`, or its base URL, which ends in /api/trpc. */
  url: string
  apiKey: string
  /** What makes requests; without it, the global fetch. */
  fetch?: typeof globalThis.fetch
  /** More headers of each request. */
  headers?: Record<string, string>
  /** Whether calls made in the same moment travel together, up to 20; without it, they do. */
  batch?: boolean
}

/** Makes a client of a server. Refusals are TRPCClientError; see isRefusal. */
export function createClient(options: ClientOptions): Client {
  const url = baseUrl(options.url)
  const headers = { ...options.headers, authorization: `Bearer ${options.apiKey}` }
  const request: typeof globalThis.fetch = (...given) => (options.fetch ?? globalThis.fetch)(...given)
  const common = { url, headers, transformer: envelope, fetch: request as never }
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === 'subscription',
        true: httpSubscriptionLink({ url, transformer: envelope, EventSource: eventSource(request, headers) }),
        false: options.batch === false ? httpLink(common) : httpBatchLink({ ...common, maxItems: 20, maxURLLength: 4000 }),
      }),
    ],
  })
}

/** Tells whether an error is the server's answer, typed: `error.data?.code === 'TOO_MANY_REQUESTS'`. */
export function isRefusal(error: unknown): error is TRPCClientError<AppRouter> {
  return error instanceof TRPCClientError
}

function baseUrl(given: string): string {
  const url = given.replace(/\/+$/, '')
  return new URL(url).pathname === '/' ? `${url}/api/trpc` : url
}
