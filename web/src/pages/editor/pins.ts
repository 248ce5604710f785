import { parseJson, show } from '../../api/json'
import { isObject } from '../../graph/map'
import type { LastRun } from '../../inspector/types'

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
