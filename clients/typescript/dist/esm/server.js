import { createClient } from './client.js';
import { findBinary } from './binary.js';
import { createFile } from './files.js';
import { launch } from './process.js';
const disposal = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'); // not every realm has it
/** Starts a server and waits until it is ready, which takes milliseconds. It ends with stop, and with this process at the latest. */
export async function startBlueprintd(options = {}) {
    const given = options.apiKey ?? 'blueprintd-test-key';
    const running = await launch(options.binary, ['--ephemeral', '--addr', '127.0.0.1:0', '--api-key', given, ...flags(options)]);
    const { dashboardUrl, pid, seed } = running.ready;
    return {
        ...connect(running.ready, running.binary),
        dashboardUrl, pid, seed,
        logs: running.logs,
        stop: running.stop,
        [disposal]: running.stop,
    };
}
/** Uses a server that runs already, such as a service container; `createFile` needs the program on this machine, too. */
export function connectBlueprintd({ url, apiKey, binary }) {
    const apiHost = url.replace(/\/+$/, '').replace(/\/api\/trpc$/, '');
    return connect({ apiHost, baseUrl: `${apiHost}/api/trpc`, apiKey }, binary);
}
function connect({ baseUrl, apiHost, apiKey }, binary) {
    const client = createClient({ url: baseUrl, apiKey });
    async function call(method, path, body) {
        const answer = await fetch(apiHost + path, {
            method,
            headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await answer.text();
        if (!answer.ok)
            throw new Error(`${method} ${path}: ${answer.status} ${text}`);
        return (text ? JSON.parse(text) : undefined);
    }
    return {
        baseUrl, apiHost, apiKey, client,
        now: () => call('GET', '/clock'),
        advance: (by) => call('POST', '/clock/advance', { by: typeof by === 'number' ? `${by}ms` : by }),
        advanceTo: (at) => call('POST', '/clock/advance', { to: typeof at === 'string' ? at : at.toISOString() }),
        createFile: (path) => createFile(client, findBinary(binary), path),
        wait: (executionId, waiting = {}) => wait(client, executionId, waiting.timeoutMs ?? 30_000),
        resume: async (executionId, input) => {
            await client.execution.resume.mutate({ executionId, input });
            return wait(client, executionId, 30_000);
        },
        webhook: (triggerId, body, headers) => webhook(`${apiHost}/webhooks/blueprint/${triggerId}`, body, headers),
        calls: async (filter = {}) => (await call('GET', `/sandbox/calls?${new URLSearchParams(filter)}`)).calls,
        rules: (rules) => call('PUT', '/sandbox/rules', { rules }),
        expect: (expectations) => call('PUT', '/sandbox/expectations', { expect: expectations }),
        verify: () => call('POST', '/sandbox/verify'),
        send: (sending) => call('POST', '/sandbox/send', sending),
        reset: () => call('DELETE', '/sandbox'),
    };
}
function flags({ clock, sandbox, seedIds, seedFile, args }) {
    const at = clock instanceof Date ? clock.toISOString() : clock;
    const list = at === 'real' ? [] : ['--clock', at === undefined ? 'virtual' : `virtual=${at}`];
    if (sandbox)
        list.push('--sandbox');
    if (seedIds !== undefined)
        list.push('--seed-ids', String(seedIds));
    if (seedFile !== undefined)
        list.push('--seed', seedFile);
    return [...list, ...(args ?? [])];
}
async function wait(client, executionId, timeoutMs) {
    const end = performance.now() + timeoutMs;
    for (let pause = 1;; pause = Math.min(2 * pause, 100)) {
        const execution = await client.execution.getExecutionStatus.query({ executionId });
        if (execution.status === 'not_found')
            throw new Error(`there is no run ${executionId}`);
        if (execution.status !== 'running')
            return execution;
        if (performance.now() > end)
            throw new Error(`the run ${executionId} is still running after ${timeoutMs} ms, at ${execution.currentStep}; does it wait for advance?`);
        await new Promise((resolve) => setTimeout(resolve, pause));
    }
}
async function webhook(url, body, headers) {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: raw });
    const text = await answer.text();
    let parsed = text;
    try {
        parsed = JSON.parse(text);
    }
    catch {
        // it is no JSON, and stays text
    }
    return { status: answer.status, headers: answer.headers, body: parsed };
}
