import { startBlueprintd } from './server.js';
/** Starts and stops a server around the tests of a file, or around each test. Returns a proxy of the server for use within them. */
export function around(hooks, { per = 'file', ...options }) {
    let server;
    const [before, after] = per === 'file' ? [hooks.beforeAll, hooks.afterAll] : [hooks.beforeEach, hooks.afterEach];
    before(async () => {
        server = await startBlueprintd(options);
    });
    after(async () => {
        const last = server;
        server = undefined;
        await last?.stop();
    });
    return new Proxy({}, {
        get(_, name) {
            if (server)
                return Reflect.get(server, name);
            if (typeof name === 'symbol' || name === 'then' || name === 'toJSON')
                return undefined; // inspected, not used
            throw new Error(`blueprintd.${name}: the server runs only while tests and hooks do; use it inside them`);
        },
    });
}
