import { edgesOf, type BlueprintMap } from '../../graph/map'
import { renamedInGroups } from './notes'
import { replaceReferences, type Expressions } from './references'
import { renameText } from '../../text/editor'

/** Why a node cannot have an id; undefined if it can. */
export function idProblem(map: BlueprintMap, from: string, to: string): string | undefined {
  if (to === '') return renameText.enterAnId
  if (to.length > 200) return renameText.useAtMost200Characters
  if (to !== from && map.nodes.some((node) => node.id === to)) return renameText.anotherNodeHasTheId(to)
  if (to.includes(']/')) return renameText.theIdMustNotContainBecause
  return undefined
}

/**
 * Changes the id of a node, in its edges too, and with `everywhere` in all templates, expressions and code that refer
 * to it.
 */
export function rename(
  map: BlueprintMap,
  from: string,
  to: string,
  everywhere: boolean,
  expressions: Expressions,
): BlueprintMap {
  if (from === to) return map
  const named = renamedInGroups(everywhere ? replaceReferences(map, from, to, expressions) : map, from, to)
  const nodes = named.nodes.map((node) => (node.id === from ? { ...node, id: to } : node))
  const edges = edgesOf(named).map((edge) =>
    edge.source === from || edge.target === from
      ? { ...edge, source: edge.source === from ? to : edge.source, target: edge.target === from ? to : edge.target }
      : edge,
  )
  return named.edges ? { ...named, nodes, edges } : { ...named, nodes }
}
