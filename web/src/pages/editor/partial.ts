import { isRaw, show } from '../../api/json'
import { type Step, writePath } from '../../forms/path'
import { idOf, stepsAt } from '../../inspector/scope'
import type { LastRun, LastStep } from '../../inspector/types'
import {
  type BlueprintMap,
  edgesOf,
  isObject,
  isSequential,
  type MapEdge,
  type MapNode,
  normalType,
} from '../../graph/map'
import { downstream, upstream } from '../../graph/order'
import type { Pins } from './pins'

/** A map that runs a part of another one, or the reason why it cannot. */
export type Partial =
  | {
      map: BlueprintMap
      /** The ids of the nodes that run as they are. */
      ran: ReadonlySet<string>
      /** The paths of masked values that the nodes get: of stored outputs, and of the input data if they use it. */
      masked: string[]
    }
  | { missing: string[] }

// The server shows this in place of a secret.
const mask = '***'

/**
 * A map that runs one node, or with `onward` it and all nodes after it, with the data of an earlier run: the nodes
 * before them are replaced by nodes that return the outputs of that run. `set` nodes stay, because they write
 * variables. A later node with a pinned output returns that. `missing` holds the nodes directly before the part that have no output in the run.
 */
export function partial(
  map: BlueprintMap,
  id: string,
  onward: boolean,
  run: LastRun | undefined,
  pins: Pins = {},
): Partial {
  const later = isSequential(map) ? after(map, id) : downstream(map, id)
  const part = new Set(onward ? [id, ...later] : [id])
  const before = new Set<string>()
  for (const each of part) for (const source of upstream(map, each)) if (!part.has(source)) before.add(source)
  const outputs = new Map(
    stepsAt(run, []).flatMap((step) => (returned(step) ? [[idOf(step.nodeId), step.output] as const] : [])),
  )
  const direct = isSequential(map)
    ? map.nodes
        .slice(
          0,
          map.nodes.findIndex((node) => node.id === id),
        )
        .slice(-1)
    : map.nodes.filter((node) => edgesOf(map).some((edge) => edge.source === node.id && edge.target === id))
  const missing = direct.filter((node) => !outputs.has(node.id))
  // Of several branches that lead here, one may have been skipped.
  if (direct.length > 0 && missing.length === direct.length)
    return { missing: missing.map((node) => node.title || node.id) }
  const kept = map.nodes.flatMap((node): MapNode[] => {
    if (part.has(node.id))
      return [node.id !== id && Object.hasOwn(pins, node.id) ? returning(node, pins[node.id]) : node]
    if (!before.has(node.id) || !outputs.has(node.id)) return []
    return [normalType(node.type) === 'set' && !node.disabled ? node : returning(node, outputs.get(node.id))]
  })
  const ran = new Set([...part].filter((each) => each === id || !Object.hasOwn(pins, each)))
  const masked = kept.flatMap((node) => {
    if (map.nodes.includes(node)) return []
    return maskedIn(part.has(node.id) ? pins[node.id] : outputs.get(node.id), ['nodes', node.id, 'output'])
  })
  const asIs = kept.filter((node) => map.nodes.includes(node))
  // The nodes that nothing leads to get the input data.
  const begins = (node: MapNode) => upstream(map, node.id).size === 0
  if (asIs.some((node) => begins(node) || /\binputData\b/.test(show(node, 0))))
    masked.push(...maskedIn(inputOf(map, run), ['inputData']))
  if (isSequential(map)) return { map: { nodes: kept }, ran, masked }
  const known = new Set(kept.map((node) => node.id))
  const edges = edgesOf(map).flatMap((edge): MapEdge[] => {
    if (!known.has(edge.source) || !known.has(edge.target)) return []
    const stored = !part.has(edge.source) || (edge.source !== id && Object.hasOwn(pins, edge.source))
    return [stored ? { source: edge.source, target: edge.target } : edge]
  })
  return { map: { nodes: kept, edges }, ran, masked }
}

// The paths of the masked values in a value.
function maskedIn(value: unknown, path: Step[]): string[] {
  if (typeof value === 'string') return value.includes(mask) ? [writePath(path)] : []
  if (Array.isArray(value)) return value.flatMap((item, index) => maskedIn(item, [...path, index]))
  if (!isObject(value) || isRaw(value)) return []
  return Object.entries(value).flatMap(([key, member]) => maskedIn(member, [...path, key]))
}

/** The input of a run: that of a node without a predecessor. */
export function inputOf(map: BlueprintMap, run: LastRun | undefined): unknown {
  if (run && Object.hasOwn(run, 'inputData')) return run.inputData
  const sources = isSequential(map)
    ? map.nodes.slice(0, 1)
    : map.nodes.filter((node) => edgesOf(map).every((edge) => edge.target !== node.id))
  const first = sources[0]?.id
  return run?.steps.find((step) => step.nodeId === first)?.input ?? {}
}

/** A run of a part with the other steps of the run that it took its data from. */
export function overlaid(run: LastRun, from: LastRun | undefined, ran: ReadonlySet<string>): LastRun {
  if (!from) return run
  const inPart = (step: LastStep) => ran.has(step.nodeId.split(/\[\d+\]\//)[0]!)
  return { ...from, id: run.id, steps: [...from.steps.filter((step) => !inPart(step)), ...run.steps.filter(inPart)] }
}

// A disabled node, or one that failed and continued, has an output too.
function returned(step: LastStep): boolean {
  if (step.status === 'completed') return true
  return (step.status === 'skipped' || step.status === 'failed') && step.output !== undefined && step.output !== null
}

function after(map: BlueprintMap, id: string): string[] {
  return map.nodes.slice(map.nodes.findIndex((node) => node.id === id) + 1).map((node) => node.id)
}

// A node that returns a stored output.
function returning(node: MapNode, output: unknown): MapNode {
  return {
    id: node.id,
    type: 'code',
    title: node.title,
    config: { language: 'javascript', source: `return ${show(output ?? null, 0)}` },
  }
}
