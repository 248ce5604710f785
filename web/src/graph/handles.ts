import { lookOf } from './looks'
import { edgesOf, handleOf, isObject, MAIN, normalType, type BlueprintMap, type MapNode } from './map'
import { handlesText } from '../text/graph'

/** A handle of a node. */
export type Handle = {
  id: string
  /** Its label on the canvas. */
  label: string
  /** Why it is never taken, if so. */
  dead?: string
}

/**
 * The handles of a node: those of its type, of a switch's cases, `error` if failures branch, and those that its edges
 * name. A type with its own handles also has "main", which is always taken; it is shown once an edge uses it.
 */
export function handlesOf(node: MapNode, used: Iterable<string> = []): Handle[] {
  const type = normalType(node.type)
  const named = type === 'switch' ? [...caseHandles(node), 'default'] : (lookOf(type).handles ?? [])
  const handles: Handle[] =
    named.length === 0 ? [{ id: MAIN, label: '' }] : [...new Set(named)].map((id) => ({ id, label: id }))
  const known = new Set(handles.map((handle) => handle.id))
  const add = (handle: Handle) => {
    if (known.has(handle.id)) return
    known.add(handle.id)
    handles.push(handle)
  }
  if (node.onError === 'branch') add({ id: 'error', label: handlesText.error })
  for (const id of used) {
    if (id === MAIN) add({ id, label: handlesText.always })
    else if (id === 'error') add({ id, label: id, dead: handlesText.neverTakenTheNodeDoesNot })
    else add({ id, label: id, dead: handlesText.neverTakenTheNodeHasNo })
  }
  // A single handle needs no label.
  if (handles.length > 1 && handles[0]!.id === MAIN) handles[0] = { id: MAIN, label: MAIN }
  return handles
}

/** The handles that can be connected: those of handlesOf, and "main" where it is hidden. */
export function connectable(node: MapNode, used: Iterable<string> = []): Handle[] {
  const handles = handlesOf(node, used).filter((handle) => !handle.dead)
  return handles.some((handle) => handle.id === MAIN) ? handles : [...handles, { id: MAIN, label: handlesText.always }]
}

/** The handles used by the edges of each node. */
export function usedHandles(map: BlueprintMap): Map<string, Set<string>> {
  const used = new Map<string, Set<string>>()
  for (const edge of edgesOf(map)) {
    const set = used.get(edge.source)
    if (set) set.add(handleOf(edge))
    else used.set(edge.source, new Set([handleOf(edge)]))
  }
  return used
}

function caseHandles(node: MapNode): string[] {
  const cases = node.config.cases
  if (!Array.isArray(cases)) return []
  return cases.flatMap((each: unknown) =>
    isObject(each) && typeof each.handle === 'string' && each.handle !== '' ? [each.handle] : [],
  )
}
