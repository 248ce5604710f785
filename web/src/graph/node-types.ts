import type { Outputs } from '../api/client'
import { normalType } from './map'

/** A node type of the server's catalogue. */
export type NodeType = Outputs['node']['types'][number]

/** The entry of a node's type, in any spelling; undefined if the catalogue lacks it. */
export function typeIn<Type extends { type: string }>(
  types: readonly Type[] | undefined,
  name: string,
): Type | undefined {
  const wanted = normalType(name)
  return types?.find(({ type }) => type === wanted)
}
