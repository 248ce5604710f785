import { type BlueprintMap, edgesOf, isSequential, positionOf, type Position } from '../../graph/map'
import { snap } from '../../graph/layout'
import { HEAD, WIDTH } from '../../graph/sizes'
import type { Bounds } from '../../graph/sizes'

/** The dimensions of a trigger's card; the style sheet has the same numbers. */
export const CARD = { width: 216, height: 68 }
/** The dimensions of the card that adds a trigger. */
export const ADD = { width: 216, height: 40 }

const columnGap = 72
const rowGap = 16
// More wires hide the graph.
const mostWires = 60

/** The places of trigger cards left of a map, and of the card that adds one, if there is one. */
export type Column = { cards: Position[]; add?: Position; bounds: Bounds }

/** The column of trigger cards left of a map's nodes, beside the nodes that a trigger starts. Undefined for no cards. */
export function columnOf(map: BlueprintMap, triggers: number, addable: boolean): Column | undefined {
  if (triggers === 0 && !addable) return undefined
  const height = triggers * (CARD.height + rowGap) + (addable ? ADD.height : -rowGap)
  const left = map.nodes.reduce((least, node) => Math.min(least, positionOf(node)?.x ?? 0), Infinity)
  const x = snap((left === Infinity ? 0 : left) - columnGap - CARD.width)
  const starts = new Set(startsOf(map))
  const middles = map.nodes.flatMap((node) => (starts.has(node.id) ? [(positionOf(node)?.y ?? 0) + HEAD / 2] : []))
  const middle = middles.length > 0 ? (Math.min(...middles) + Math.max(...middles)) / 2 : HEAD / 2
  // Without triggers, the card that adds one is level with the start; otherwise the triggers are.
  const top = middle - (triggers > 0 ? triggers * (CARD.height + rowGap) - rowGap : ADD.height) / 2
  const cards = Array.from({ length: triggers }, (_, index) => ({ x, y: top + index * (CARD.height + rowGap) }))
  const add = addable ? { x, y: top + triggers * (CARD.height + rowGap) } : undefined
  const right = x + CARD.width + (map.nodes.length === 0 ? columnGap + WIDTH : 0) // with the place of the first node
  return { cards, add, bounds: { left: x, top, right, bottom: top + height } }
}

/** The ids of the nodes that run first. */
export function startsOf(map: BlueprintMap): string[] {
  if (isSequential(map)) return map.nodes.slice(0, 1).map((node) => node.id)
  const targets = new Set(edgesOf(map).map((edge) => edge.target))
  return map.nodes.filter((node) => !targets.has(node.id)).map((node) => node.id)
}

/** The ends of the wires between `sources` cards and the nodes that run first. */
export function wiresOf(map: BlueprintMap, sources: readonly string[]): { source: string; target: string }[] {
  const targets = startsOf(map)
  return sources.flatMap((source) => targets.map((target) => ({ source, target }))).slice(0, mostWires)
}
