import { TRPCClientError, createTRPCClient, httpBatchLink, httpLink, httpSubscriptionLink, splitLink, type TRPCClient } from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { envelope } from './envelope.js'
import { eventSource } from './events.js'
import type { AppRouter } from './router.gen.js'

export type { AppRouter } from './router.gen.js'

/** The input of each procedure: `Inputs['blueprint']['create']`. */
export type Inputs = inferRouterInputs<AppRouter>
/** The output of each procedure: `Outputs['blueprint']['create']`. */
export type Outputs = inferRouterOutputs<AppRouter>

/** The procedures of a server: `client.blueprint.list.query()`, `client.blueprint.execute.mutate({ id })`. */
export type Client = TRPCClient<AppRouter>

export interface ClientOptions {
  /** The address of the server: `https://flows.example.org`, or its base URL, which ends in /api/trpc. */
  url: string
  apiKey: string
  /** Makes the requests. Default: the global fetch. */
  fetch?: typeof globalThis.fetch
  /** Additional headers of each request. */
  headers?: Record<string, string>
  /** Whether concurrent calls are batched, up to 20. Default: true. */
  batch?: boolean
}

/** Returns a client of a server. Refused calls throw TRPCClientError; see isRefusal. */
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

/** Reports whether an error is a typed response of the server: `error.data?.code === 'TOO_MANY_REQUESTS'`. */
export function isRefusal(error: unknown): error is TRPCClientError<AppRouter> {
  return error instanceof TRPCClientError
}

function baseUrl(given: string): string {
  const url = given.replace(/\/+$/, '')
  return new URL(url).pathname === '/' ? `${url}/api/trpc` : url
}
