import { readMap } from '../../graph/map'
import { groupsOf, notesOf } from '../../graph/notes'
import { placeOf } from './step-tree'
import type { Step, StepStatus } from './types'

/** The data for drawing a run on its blueprint's map. */
export type RunGraph = {
  map: unknown
  statuses: ReadonlyMap<string, StepStatus>
  /** It has notes or groups. */
  marked: boolean
  /** The node to select for a step: its own, or the loop that contains it. */
  selectedOf(address: string): string | undefined
}

/** The map with the statuses of a run's steps; `null` without a map, or if the run used other nodes. */
export function graphOf(map: unknown, steps: Step[]): RunGraph | null {
  const nodes =
    typeof map === 'object' && map !== null && Array.isArray((map as { nodes?: unknown }).nodes)
      ? (map as { nodes: { id?: unknown }[] }).nodes
      : []
  if (nodes.length === 0) return null
  const ids = new Set(nodes.map((node) => node.id))
  const statuses = new Map<string, StepStatus>()
  const known = new Set(steps.map((step) => step.nodeId))
  let own = 0
  for (const step of steps) {
    const place = placeOf(step.nodeId)
    if (place && known.has(place.loop)) continue
    if (!ids.has(step.nodeId)) return null
    statuses.set(step.nodeId, step.status)
    own++
  }
  if (own !== ids.size) return null
  const selectedOf = (address: string) => {
    let at = address
    while (at && !ids.has(at)) at = placeOf(at)?.loop ?? /^(.*)\[\d+\]$/s.exec(at)?.[1] ?? ''
    return at || undefined
  }
  const read = readMap(map)
  return { map, statuses, marked: notesOf(read).length > 0 || groupsOf(read).length > 0, selectedOf }
}
