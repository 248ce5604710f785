"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.createClient = createClient;
exports.isRefusal = isRefusal;
const client_1 = require("@trpc/client");
const envelope_js_1 = require("./envelope.js");
const events_js_1 = require("./events.js");
/** Returns a client of a server. Refused calls throw TRPCClientError; see isRefusal. */
function createClient(options) {
    const url = baseUrl(options.url);
    const headers = { ...options.headers, authorization: `Bearer ${options.apiKey}` };
    const request = (...given) => (options.fetch ?? globalThis.fetch)(...given);
    const common = { url, headers, transformer: envelope_js_1.envelope, fetch: request };
    return (0, client_1.createTRPCClient)({
        links: [
            (0, client_1.splitLink)({
                condition: (operation) => operation.type === 'subscription',
                true: (0, client_1.httpSubscriptionLink)({ url, transformer: envelope_js_1.envelope, EventSource: (0, events_js_1.eventSource)(request, headers) }),
                false: options.batch === false ? (0, client_1.httpLink)(common) : (0, client_1.httpBatchLink)({ ...common, maxItems: 20, maxURLLength: 4000 }),
            }),
        ],
    });
}
/** Reports whether an error is a typed response of the server: `error.data?.code === 'TOO_MANY_REQUESTS'`. */
function isRefusal(error) {
    return error instanceof client_1.TRPCClientError;
}
function baseUrl(given) {
    const url = given.replace(/\/+$/, '');
    return new URL(url).pathname === '/' ? `${url}/api/trpc` : url;
}
