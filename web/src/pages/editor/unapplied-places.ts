import type { Unapplied } from '../../forms/unapplied'
import { mapAt } from './nested'
import type { Doc } from './state'

/** The place of a field: a node of a level, or the variables. */
export type Place = { level: readonly string[]; nodeId: string } | 'variables'

/** The unapplied texts whose place still exists. */
export function placedTexts(texts: Iterable<Unapplied>, doc: Doc): Unapplied<Place>[] {
  return [...(texts as Iterable<Unapplied<Place>>)].filter(({ place: at, path }) => {
    if (at === 'variables') return typeof path[0] !== 'number' || path[0] < doc.variables.length
    return mapAt(doc.map, at.level)?.nodes.some((node) => node.id === at.nodeId)
  })
}
