import type { Names, Place } from '../forms/names'
import type { Schema } from '../forms/types'
import { type BlueprintMap, edgesOf, isObject, isSequential, type MapNode, normalType } from '../graph/map'
import { typeIn } from '../graph/node-types'
import { upstream } from '../graph/order'
import { passesOn, promised } from './promise'
import type { Around, LastRun, LastStep, NodeTypeInfo } from './types'
import { readVariables } from './variables'
import { scopeText } from '../text/inspector'

/** Context besides the map. */
export type Facts = {
  /** The catalogue, node.types. */
  types: readonly NodeTypeInfo[]
  /** environment_variables. */
  variables: readonly unknown[]
  lastRun?: LastRun
  inputSchema?: Schema
  /** The surrounding maps, outermost first. */
  around?: readonly Around[]
}

const text: Schema = { type: 'string' }
const whole: Schema = { type: 'integer' }

/** Every name available to templates and expressions of a node, nearest first. */
export function scopeOf(map: BlueprintMap, nodeId: string, facts: Facts): Names {
  const level = new Level(map, facts)
  const names: Record<string, Place> = { input: { ...level.inputOf(nodeId), note: scopeText.inputOfTheNode } }
  if (level.way.length > 0) {
    names.item = { ...level.item(), note: scopeText.currentItem }
    names.index = { schema: whole, note: scopeText.positionOfTheItemFrom0 }
  }
  for (const one of readVariables(facts.variables)) {
    if (one.name) names[one.name] = variablePlace(one)
  }
  const outer = facts.around?.at(-1)
  const around = outer ? scopeOf(outer.map, outer.nodeId, { ...facts, around: facts.around!.slice(0, -1) }) : undefined
  const before = upstream(map, nodeId)
  writtenBy(map, before, level, names)
  if (around) for (const [name, place] of Object.entries(around)) if (!Object.hasOwn(names, name)) names[name] = place
  names.inputData = { ...level.inputData(), note: scopeText.inputOfTheRun }
  const nodes: Record<string, Place> = { ...(around?.nodes?.members ?? {}) }
  for (const node of map.nodes) {
    if (before.has(node.id))
      nodes[node.id] = {
        closed: true,
        members: { output: { ...level.outputOf(node), note: node.title } },
        note: node.title,
      }
    else if (node.id !== nodeId && typeIn(facts.types, node.type)?.waits === 'person')
      nodes[node.id] = {
        closed: true,
        members: { link: { schema: text, note: scopeText.approvalLink } },
        note: node.title,
      }
    else delete nodes[node.id] // a node of this map hides one of a surrounding map with the same id
  }
  names.nodes = { closed: true, members: nodes, note: scopeText.outputsOfEarlierNodes }
  names.trigger = {
    members: { id: { schema: text }, type: { schema: text }, headers: { schema: { type: 'object' } } },
    note: scopeText.whatStartedTheRun,
  }
  names.execution = { closed: true, members: { id: { schema: text } }, note: scopeText.theRun }
  names.blueprint = {
    closed: true,
    members: { id: { schema: text }, title: { schema: text } },
    note: scopeText.theBlueprintOfTheRun,
  }
  names.now = { schema: text, note: scopeText.currentTimeForExample202601 }
  return names
}

// set nodes define variables, including those that do not lead here.
function writtenBy(map: BlueprintMap, before: Set<string>, level: Level, names: Record<string, Place>): void {
  for (const node of map.nodes) {
    if (normalType(node.type) !== 'set' || node.disabled || !isObject(node.config.values)) continue
    const written = before.has(node.id) ? level.outputOf(node) : undefined
    for (const key of Object.keys(node.config.values)) {
      if (!/^[A-Za-z0-9_]+$/.test(key) || (Object.hasOwn(names, key) && !written)) continue
      const place = written && (valueAt(written, key) ?? written.members?.[key])
      names[key] = {
        ...place,
        note: written ? scopeText.setBy(node.title || node.id) : scopeText.setByWhichDoesNotLead(node.title || node.id),
      }
    }
  }
}

function valueAt(place: Place, key: string): Place | undefined {
  return place.seen && isObject(place.value) && Object.hasOwn(place.value, key)
    ? { value: place.value[key], seen: true }
    : undefined
}

function variablePlace(one: ReturnType<typeof readVariables>[number]): Place {
  const note = one.secret ? scopeText.secretVariable : one.description || 'variable'
  if (one.hasDefault && !one.secret) return { value: one.standard, seen: true, note }
  const type = one.type === 'json' ? undefined : { type: one.type }
  return { schema: type, note, secret: one.secret || undefined }
}

/** A map with its steps in the last run. */
class Level {
  readonly way: string[]
  private readonly steps = new Map<string, LastStep>()
  private readonly sources = new Map<string, string[]>()
  private readonly nodes: Map<string, MapNode>

  constructor(
    private readonly map: BlueprintMap,
    private readonly facts: Facts,
  ) {
    this.way = (facts.around ?? []).map((one) => one.nodeId)
    this.nodes = new Map(map.nodes.map((node) => [node.id, node]))
    for (const step of stepsAt(facts.lastRun, this.way)) {
      const id = idOf(step.nodeId)
      // Of several items, the first with a value.
      const known = this.steps.get(id)
      if (!known || (!done(known) && done(step))) this.steps.set(id, step)
    }
    if (isSequential(map))
      map.nodes.slice(1).forEach((node, index) => this.sources.set(node.id, [map.nodes[index]!.id]))
    for (const edge of edgesOf(map)) {
      const list = this.sources.get(edge.target) ?? []
      if (!list.includes(edge.source)) this.sources.set(edge.target, [...list, edge.source])
    }
  }

  /** The input of the nodes of this map without predecessors. */
  first(): Place {
    return this.way.length > 0 ? this.item() : this.inputData()
  }

  inputData(): Place {
    const { lastRun, inputSchema } = this.facts
    if (lastRun && Object.hasOwn(lastRun, 'inputData'))
      return { value: lastRun.inputData, seen: true, schema: inputSchema }
    const top = this.facts.around?.[0]?.map ?? this.map
    const start = top.nodes.find((node, index) =>
      isSequential(top) ? index === 0 : edgesOf(top).every((edge) => edge.target !== node.id),
    )
    const step = start && lastRun?.steps.find((one) => one.nodeId === start.id)
    return step && begun(step) ? { value: step.input, seen: true, schema: inputSchema } : { schema: inputSchema }
  }

  item(): Place {
    const start = this.map.nodes.find((node) => !this.sources.has(node.id))
    const step = start && this.steps.get(start.id)
    if (step && begun(step)) return { value: step.input, seen: true }
    const outer = this.facts.around?.at(-1)
    const items = outer?.map.nodes.find((node) => node.id === outer.nodeId)?.config.items
    return Array.isArray(items) && items.length > 0 ? { value: items[0], seen: true } : {}
  }

  inputOf(nodeId: string, depth = 0): Place {
    const sources = this.sources.get(nodeId) ?? []
    if (sources.length === 0) return this.first()
    if (sources.length > 1) return { members: this.outputs(sources, depth) }
    const place = this.outputOf(this.nodes.get(sources[0]!), depth + 1)
    const step = this.steps.get(nodeId)
    return !place.seen && step && begun(step) ? { ...place, value: step.input, seen: true } : place
  }

  outputOf(node: MapNode | undefined, depth = 0): Place {
    if (!node || depth > 200) return {}
    const step = this.steps.get(node.id)
    const seen: Place = step && done(step) ? { value: step.output, seen: true } : {}
    const type = typeIn(this.facts.types, node.type)
    if (passesOn(node, type)) return seen.seen ? seen : this.inputOf(node.id, depth + 1)
    return { ...promised(node, type, () => this.outputs(this.sources.get(node.id) ?? [], depth)), ...seen }
  }

  private outputs(ids: string[], depth: number): Record<string, Place> {
    return Object.fromEntries(ids.map((id) => [id, this.outputOf(this.nodes.get(id), depth + 1)]))
  }
}

/** The steps of a run for the nodes of one map; those of a for-each have addresses such as `loop[3]/inner`. */
export function stepsAt(run: LastRun | undefined, way: readonly string[]): LastStep[] {
  if (!run) return []
  return run.steps.filter((step) => {
    const parts = step.nodeId.split(/\[\d+\]\//)
    return parts.length === way.length + 1 && way.every((id, index) => parts[index] === id)
  })
}

/** The id of the node in an address. */
export function idOf(address: string): string {
  return address.split(/\[\d+\]\//).at(-1)!
}

function done(step: LastStep): boolean {
  return step.status === 'completed' || (step.output !== undefined && step.output !== null)
}

function begun(step: LastStep): boolean {
  return step.status !== 'pending' && step.status !== 'skipped' && step.input !== undefined
}
