import { TRPCClientError, createTRPCClient, httpBatchLink, httpLink, httpSubscriptionLink, splitLink } from '@trpc/client';
import { envelope } from './envelope.js';
import { eventSource } from './events.js';
/** Returns a client of a server. Refused calls throw TRPCClientError; see isRefusal. */
export function createClient(options) {
    const url = baseUrl(options.url);
    const headers = { ...options.headers, authorization: `Bearer ${options.apiKey}` };
    const request = (...given) => (options.fetch ?? globalThis.fetch)(...given);
    const common = { url, headers, transformer: envelope, fetch: request };
    return createTRPCClient({
        links: [
            splitLink({
                condition: (operation) => operation.type === 'subscription',
                true: httpSubscriptionLink({ url, transformer: envelope, EventSource: eventSource(request, headers) }),
                false: options.batch === false ? httpLink(common) : httpBatchLink({ ...common, maxItems: 20, maxURLLength: 4000 }),
            }),
        ],
    });
}
/** Reports whether an error is a typed response of the server: `error.data?.code === 'TOO_MANY_REQUESTS'`. */
export function isRefusal(error) {
    return error instanceof TRPCClientError;
}
function baseUrl(given) {
    const url = given.replace(/\/+$/, '');
    return new URL(url).pathname === '/' ? `${url}/api/trpc` : url;
}
