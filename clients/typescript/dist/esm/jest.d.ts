import { type UseOptions } from './hooks.js';
import type { Blueprintd } from './server.js';
export type { UseOptions } from './hooks.js';
export * from './index.js';
/** One line gives the tests of a file a server: `const blueprintd = useBlueprintd()`. */
export declare function useBlueprintd(options?: UseOptions): Blueprintd;
