// Lets node run our TypeScript tests: esbuild takes the types off, and imports without an ending find their .ts file.
import { register } from 'node:module'

register('./ts-hooks.mjs', import.meta.url)
