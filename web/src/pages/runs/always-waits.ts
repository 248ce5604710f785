import { type NodeType, typeIn } from '../../graph/node-types'

/** Reports whether all that nodes of a type do is wait for a time or a user. */
export function alwaysWaits(types: NodeType[] | undefined, nodeType: string): boolean {
  return ['time', 'person'].includes(typeIn(types, nodeType)?.waits ?? '')
}
