import { around } from './hooks.js';
export * from './index.js';
/** One line gives the tests of a file a server: `const blueprintd = useBlueprintd()`. */
export function useBlueprintd(options = {}) {
    const hooks = globalThis;
    if (!hooks.beforeAll)
        throw new Error('useBlueprintd of blueprintd/jest needs the globals of Jest; set injectGlobals, or call startBlueprintd yourself');
    return around(hooks, options);
}
