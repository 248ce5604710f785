import { fileURLToPath } from 'node:url';
export const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
