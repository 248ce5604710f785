// A real tRPC 11 server with the procedures of the API and empty implementations: its responses
// define the protocol. A message that begins with "dummy:" represents the application's own
// text.
import { once } from 'node:events';
import { initTRPC, TRPCError } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import superjson from 'superjson';
import { z } from 'zod';
import { KEY } from './server.mjs';

const t = initTRPC.context().create({ transformer: superjson, isDev: false, sse: { client: { reconnectAfterInactivityMs: 60_000 } } });

const refuse = (code) => {
  throw new TRPCError({ code, message: `dummy: ${code}` });
};

const withKey = t.procedure.use(({ ctx, next }) => (ctx.authorization === `Bearer ${KEY}` ? next() : refuse('UNAUTHORIZED')));

const uuid = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
const object = z.record(z.string(), z.any());
const node = z.object({ id: z.string(), type: z.string(), title: z.string(), config: object }).loose();
const listing = { limit: z.number().int().min(1).max(100).default(20), offset: z.number().int().min(0).default(0) };
const status = z.enum(['draft', 'published']);

const noRun = (id) => ({
  id, status: 'not_found', progress: 0, startTime: null, endTime: null, totalSteps: 0, completedSteps: 0, failedSteps: 0, steps: [], logs: [],
  currentStep: null, awaitingInput: null,
});

// Every id is unknown, as on a new server.
const unknown = () => refuse('NOT_FOUND');

const router = t.router({
  blueprint: {
    list: withKey.input(z.object({
      page: z.number().int().min(1).default(1), limit: z.number().int().min(1).max(100).default(20), status: status.optional(), search: z.string().optional(),
    }).prefault({})).query(({ input: { page, limit } }) => ({ data: [], pagination: { page, limit, total: 0, totalPages: 0 } })),
    get: withKey.input(z.object({ id: uuid })).query(unknown),
    create: withKey.input(z.object({
      title: z.string().min(1), description: z.string().default(''), status: status.default('draft'), tags: z.array(z.string()).default([]),
      blueprint_map: z.object({ nodes: z.array(node) }).loose().optional(), environment_variables: z.array(z.any()).default([]), organization_id: uuid.optional(),
    })).mutation(({ input: { organization_id, ...input } }) => ({
      blueprint_map: null, ...input, visibility: 'private', version: '1.0.0', average_rating: 0, rating_count: 0,
    })),
    execute: withKey.input(z.object({ id: uuid, variables: object.default({}) })).mutation(unknown),
    delete: withKey.input(z.object({ id: uuid })).mutation(unknown),
    versions: withKey.input(z.object({ id: uuid })).query(unknown),
    validate: withKey.input(z.object({ blueprint_map: z.object({}).loose() })).mutation(() => ({ valid: true, issues: [] })),
  },
  execution: {
    executeBlueprintWithLogging: withKey.input(z.object({ nodes: z.array(node), options: z.object({ blueprintId: uuid }) })).mutation(unknown),
    getExecutionStatus: withKey.input(z.object({ executionId: z.string() })).query(({ input }) => noRun(input.executionId)),
    getExecutionLogs: withKey.input(z.object({ blueprintId: uuid, ...listing })).query(unknown),
    listRecentExecutions: withKey.input(z.object({ ...listing, organizationId: z.string().optional() }).prefault({})).query(() => ({ logs: [], total: 0 })),
    cancel: withKey.input(z.object({ executionId: z.string(), reason: z.string().optional() })).mutation(unknown),
    subscribe: withKey.input(z.object({ executionId: z.string() })).subscription(async function* () {
      unknown();
    }),
  },
  blueprintTriggers: {
    list: withKey.input(z.object({ blueprintId: uuid })).query(unknown),
    create: withKey.input(z.object({
      blueprintId: uuid, triggerType: z.enum(['manual', 'scheduled', 'webhook', 'email', 'slack', 'event', 'api']), config: object.default({}),
    })).mutation(unknown),
    getWebhookUrl: withKey.input(z.object({ triggerId: uuid })).query(unknown),
    fire: withKey.input(z.object({ triggerId: uuid, inputData: object.default({}) })).mutation(unknown),
    history: withKey.input(z.object({ triggerId: uuid, ...listing })).query(unknown),
  },
});

/** Starts it on a free port, under the same path and limits as the server under test. */
export async function startOracle() {
  const server = createHTTPServer({
    router, basePath: '/api/trpc/', maxBodySize: 5 << 20, maxBatchSize: 100,
    createContext: ({ req, info }) => ({ authorization: req.headers.authorization ?? info.connectionParams?.authorization }),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    apiHost: `http://127.0.0.1:${server.address().port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
