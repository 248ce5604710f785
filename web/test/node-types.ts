import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NodeType } from '../src/graph/node-types'

const file = join(dirname(fileURLToPath(import.meta.url)), 'node-types.json')

/** The server's catalogue, for tests; a test of the server keeps the file up to date. */
export const nodeTypes = JSON.parse(readFileSync(file, 'utf8')) as NodeType[]
