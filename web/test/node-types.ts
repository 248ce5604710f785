import { readFileSync } from 'node:fs'
import type { NodeType } from '../src/graph/node-types'

/** The server's catalogue, for tests; a test of the server keeps the file up to date. */
export const nodeTypes: NodeType[] = JSON.parse(
  readFileSync(new URL('node-types.json', import.meta.url), 'utf8'),
) as NodeType[]
