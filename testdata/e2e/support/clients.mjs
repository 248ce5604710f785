// The official clients, set up as in an application.
import assert from 'node:assert/strict';
import {
  TRPCClientError, createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink, httpSubscriptionLink, splitLink,
} from '@trpc/client';
import * as ten from 'client10';
import { EventSource } from 'eventsource';
import superjson from 'superjson';

const bearer = (key) => (key ? { Authorization: `Bearer ${key}` } : {});

const eleven = (link) => (url, key, more = {}) =>
  createTRPCClient({ links: [link({ url, transformer: superjson, headers: bearer(key), ...more })] });

const older = (link) => (url, key, more = {}) =>
  ten.createTRPCProxyClient({ transformer: ten.superjson, links: [link({ url, headers: bearer(key), ...more })] });

/** Every kind of client: a name, and a function that creates one from (url, key, more link options). */
export const ways = {
  'client 10, httpLink': older(ten.httpLink),
  'client 10, httpBatchLink': older(ten.httpBatchLink),
  'client 11, httpLink': eleven(httpLink),
  'client 11, httpBatchLink': eleven(httpBatchLink),
  'client 11, httpBatchStreamLink': eleven(httpBatchStreamLink),
};

/** The default client. */
export const connect = ways['client 11, httpLink'];
export const connectBatching = ways['client 11, httpBatchLink'];
export const connectStreaming = ways['client 11, httpBatchStreamLink'];

/** A client whose subscriptions carry the key in the Authorization header. */
export function subscriberByHeader(url, key) {
  const fetchWithKey = (address, init) => fetch(address, { ...init, headers: { ...init.headers, ...bearer(key) } });
  return subscriber(url, key, { eventSourceOptions: { fetch: fetchWithKey } });
}

/** A client whose subscriptions carry the key as browsers must: in connectionParams. */
export function subscriberByParams(url, key) {
  return subscriber(url, key, { connectionParams: { authorization: `Bearer ${key}` } });
}

function subscriber(url, key, options) {
  return createTRPCClient({
    links: [splitLink({
      condition: (operation) => operation.type === 'subscription',
      true: httpSubscriptionLink({ url, transformer: superjson, EventSource, ...options }),
      false: httpLink({ url, transformer: superjson, headers: bearer(key) }),
    })],
  });
}

const clientErrors = [TRPCClientError, ten.TRPCClientError];

// The number of each code name that these suites expect.
const numbers = {
  BAD_REQUEST: [-32600, 400], UNAUTHORIZED: [-32001, 401], FORBIDDEN: [-32003, 403], NOT_FOUND: [-32004, 404],
  METHOD_NOT_SUPPORTED: [-32005, 405], CONFLICT: [-32009, 409], TOO_MANY_REQUESTS: [-32029, 429],
};

/**
 * Expects the call to be refused with the code, its number and its HTTP
 * status, read through the client. wanted: path, message (a pattern), issues
 * (the paths that data.issues must name, in any order). Returns the error.
 */
export async function refused(call, code, wanted = {}) {
  const error = await Promise.resolve(call).then(
    (answer) => assert.fail(`expected ${code}, was answered ${JSON.stringify(answer)}`),
    (reason) => reason,
  );
  return assertRefusal(error, code, wanted);
}

/** The same for a caught error. */
export function assertRefusal(error, code, { path, message, issues } = {}) {
  assert.ok(clientErrors.some((kind) => error instanceof kind), `not a client error: ${error.stack}`);
  const [number, status] = numbers[code];
  const seen = { code: error.data?.code, httpStatus: error.data?.httpStatus, number: error.shape?.code };
  assert.deepEqual(seen, { code, httpStatus: status, number }, `message: ${error.message}`);
  assert.equal(error.data.stack, undefined, 'no stack trace may leave the server');
  if (path) assert.equal(error.data.path, path);
  if (message) assert.match(error.message, message);
  if (issues) {
    const paths = (error.data.issues ?? []).map((issue) => issue.path);
    assert.deepEqual(new Set(paths.map(String)), new Set(issues.map(String)), `issues: ${JSON.stringify(error.data.issues)}`);
    for (const issue of error.data.issues) assert.equal(typeof issue.message, 'string');
  }
  return error;
}
