import { type Blueprintd, type StartOptions } from './server.js';
export interface UseOptions extends StartOptions {
    /** Whether all tests of a file share a server or each has its own. Default: 'file'. */
    per?: 'file' | 'test';
}
type Hook = (work: () => Promise<void>) => unknown;
/** The hooks that both test runners have. */
export interface Hooks {
    beforeAll: Hook;
    afterAll: Hook;
    beforeEach: Hook;
    afterEach: Hook;
}
/** Starts and stops a server around the tests of a file, or around each test. Returns a proxy of the server for use within them. */
export declare function around(hooks: Hooks, { per, ...options }: UseOptions): Blueprintd;
export {};
