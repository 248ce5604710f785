import type { BlueprintMap } from '../../graph/map'
import { type Level, mapAt } from './nested'

/** The text for a place of the map in the address: the ids on the path to it, the node last; '' for none. */
export function placeText(level: Level, nodeId: string | undefined): string {
  if (level.length === 0 && nodeId === undefined) return ''
  return [...level, nodeId ?? ''].map(encodeURIComponent).join('/')
}

/** The place of a text in the address, as far as it exists in the map. */
export function findPlace(map: BlueprintMap, text: string): { level: Level; nodeId?: string } {
  const ids = text.split('/').map(decoded)
  const level = ids.slice(0, -1)
  const within = mapAt(map, level)
  if (!within) return { level: [] }
  const nodeId = ids.at(-1)!
  return within.nodes.some((node) => node.id === nodeId) ? { level, nodeId } : { level }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
