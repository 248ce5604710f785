import { TRPCClientError, type TRPCClient } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from './router.gen.js';
export type { AppRouter } from './router.gen.js';
/** The input of each procedure: `Inputs['blueprint']['create']`. */
export type Inputs = inferRouterInputs<AppRouter>;
/** The output of each procedure: `Outputs['blueprint']['create']`. */
export type Outputs = inferRouterOutputs<AppRouter>;
/** The procedures of a server: `client.blueprint.list.query()`, `client.blueprint.execute.mutate({ id })`. */
export type Client = TRPCClient<AppRouter>;
export interface ClientOptions {
    /** The address of the server: `https://flows.example.org`, or its base URL, which ends in /api/trpc. */
    url: string;
    apiKey: string;
    /** Makes the requests. Default: the global fetch. */
    fetch?: typeof globalThis.fetch;
    /** Additional headers of each request. */
    headers?: Record<string, string>;
    /** Whether concurrent calls are batched, up to 20. Default: true. */
    batch?: boolean;
}
/** Returns a client of a server. Refused calls throw TRPCClientError; see isRefusal. */
export declare function createClient(options: ClientOptions): Client;
/** Reports whether an error is a typed response of the server: `error.data?.code === 'TOO_MANY_REQUESTS'`. */
export declare function isRefusal(error: unknown): error is TRPCClientError<AppRouter>;
