import { type TestAPI } from 'vitest';
import { type UseOptions } from './hooks.js';
import { type Blueprintd } from './server.js';
export type { UseOptions } from './hooks.js';
export * from './index.js';
/** Starts a server for the tests of a file: `const blueprintd = useBlueprintd()`. Its log is shown when a test fails. */
export declare function useBlueprintd(options?: UseOptions): Blueprintd;
/** Vitest's test, with a server for each test that asks for one: `test('...', async ({ blueprintd }) => { ... })`. */
export declare const test: TestAPI<{
    blueprintd: Blueprintd;
}>;
