// Imports modules of the dashboard that need neither React nor a browser, with the installed
// TypeScript.
import { register } from 'node:module';

register('./web-hooks.mjs', import.meta.url);

/** Imports a module of web/src by its path there. */
export const fromWeb = (path) => import(new URL(`../../../web/src/${path}`, import.meta.url).href);
