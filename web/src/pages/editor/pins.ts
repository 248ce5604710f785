import { parseJson, show } from '../../api/json'
import { type BlueprintMap, isObject } from '../../graph/map'
import type { LastRun } from '../../inspector/types'
import { same } from './same'

/** Outputs that stand in for those of a run, by the id of the node. */
export type Pins = Readonly<Record<string, unknown>>

/** A run with pinned outputs: a pinned node has completed with its pinned output. */
export function withPins(run: LastRun | undefined, pins: Pins): LastRun | undefined {
  const ids = Object.keys(pins)
  if (ids.length === 0) return run
  const steps = (run?.steps ?? []).map((step) =>
    Object.hasOwn(pins, step.nodeId)
      ? { ...step, status: 'completed', output: pins[step.nodeId], error: undefined }
      : step,
  )
  const known = new Set(steps.map((step) => step.nodeId))
  const more = ids
    .filter((id) => !known.has(id))
    .map((nodeId) => ({ nodeId, status: 'completed', output: pins[nodeId] }))
  return { ...run, steps: [...steps, ...more] }
}

/** The pins after a change of the map: a node that got another id keeps its pin, and a deleted one loses it. */
export function pinsAfter(pins: Pins, before: BlueprintMap, after: BlueprintMap): Pins {
  const ids = new Set(after.nodes.map((node) => node.id))
  const gone = Object.keys(pins).filter((id) => !ids.has(id))
  if (gone.length === 0) return pins
  const known = new Set(before.nodes.map((node) => node.id))
  const next: Record<string, unknown> = { ...pins }
  for (const id of gone) {
    const node = before.nodes.find((one) => one.id === id)
    const renamed = node && after.nodes.find((one) => !known.has(one.id) && same({ ...one, id }, node))
    if (renamed) next[renamed.id] = next[id]
    delete next[id]
  }
  return next
}

/** The pins of a stored text; none if it is not one. */
export function readPins(text: string | null): Pins {
  try {
    const value: unknown = text === null ? {} : parseJson(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** The text that stores pins; undefined for none. */
export function showPins(pins: Pins): string | undefined {
  return Object.keys(pins).length > 0 ? show(pins, 0) : undefined
}
