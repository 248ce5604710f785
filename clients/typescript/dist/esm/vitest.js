import { afterAll, afterEach, beforeAll, beforeEach, test as plain } from 'vitest';
import { around } from './hooks.js';
import { startBlueprintd } from './server.js';
export * from './index.js';
/** Starts a server for the tests of a file: `const blueprintd = useBlueprintd()`. Its log is shown when a test fails. */
export function useBlueprintd(options = {}) {
    const blueprintd = around({ beforeAll, afterAll, beforeEach, afterEach }, options);
    beforeEach(({ onTestFailed }) => {
        onTestFailed(() => showLog(blueprintd.logs()));
    });
    return blueprintd;
}
/** Vitest's test, with a server for each test that asks for one: `test('...', async ({ blueprintd }) => { ... })`. */
export const test = plain.extend({
    blueprintd: async ({ onTestFailed }, use) => {
        const server = await startBlueprintd();
        onTestFailed(() => showLog(server.logs()));
        await use(server);
        await server.stop();
    },
});
function showLog(log) {
    console.error(`log of blueprintd:\n${log}`);
}
