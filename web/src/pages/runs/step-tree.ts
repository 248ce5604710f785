/**
 * The steps of a run as a tree: a for-each node contains its items, an item its steps. The steps are a flat list with
 * addresses: `loop[3]/inner` is the node `inner` in item 3 of `loop`.
 */
import { ms, type Step, type StepStatus } from './types'

/** A step, with the items of a for-each node. */
export type StepNode = { step: Step; items: ItemNode[] }
/** One item of a for-each node. Times are milliseconds, NaN for none. */
export type ItemNode = {
  address: string
  index: number
  steps: StepNode[]
  status: StepStatus
  start: number
  end: number
}

/** The place of an item's step; `null` for a node of the run's own map. */
export type Place = { loop: string; item: string; index: number; inner: string }

/** Parses the address of an item's step, innermost item first. */
export function placeOf(address: string): Place | null {
  const parts = /^(.*)\[(\d+)\]\/(.+)$/s.exec(address)
  if (!parts) return null
  const [, loop = '', digits = '', inner = ''] = parts
  return { loop, item: `${loop}[${digits}]`, index: Number(digits), inner }
}

/** The for-each nodes and items around a step, outermost first, which must be expanded to show it. */
export function around(address: string): string[] {
  const found: string[] = []
  for (let place = placeOf(address); place; place = placeOf(place.loop)) found.unshift(place.loop, place.item)
  return found
}

/** The node of a step in the editor's address: the ids of the loops around it and its own. */
export function nodePathOf(address: string): string {
  return address
    .split(/\[\d+\]\//)
    .map(encodeURIComponent)
    .join('/')
}

/** The tree of a run's steps, in their order; items by their number. */
export function treeOf(steps: Step[]): StepNode[] {
  const nodes = new Map<string, StepNode>(steps.map((step) => [step.nodeId, { step, items: [] }]))
  const items = new Map<string, ItemNode>()
  const roots: StepNode[] = []
  for (const node of nodes.values()) {
    const place = placeOf(node.step.nodeId)
    const loop = place && nodes.get(place.loop)
    if (!place || !loop) {
      roots.push(node) // a node's id may look like an address without such a loop
      continue
    }
    let item = items.get(place.item)
    if (!item) {
      item = {
        address: place.item,
        index: place.index,
        steps: [],
        status: 'pending',
        start: Number.NaN,
        end: Number.NaN,
      }
      items.set(place.item, item)
      loop.items.push(item)
    }
    item.steps.push(node)
  }
  for (const item of items.values()) sumUp(item)
  for (const node of nodes.values()) node.items.sort((a, b) => a.index - b.index)
  return roots
}

/** The number of items in each status. */
export function countItems(items: ItemNode[]): Partial<Record<StepStatus, number>> {
  const counts: Partial<Record<StepStatus, number>> = {}
  for (const item of items) counts[item.status] = (counts[item.status] ?? 0) + 1
  return counts
}

// The most important status of an item: one failed step makes it failed, one running step running.
const weight: StepStatus[] = ['failed', 'paused', 'running']

function sumUp(item: ItemNode): void {
  const seen = new Set(item.steps.map((node) => node.step.status))
  const has = (status: StepStatus) => seen.has(status)
  item.status =
    weight.find(has) ??
    (has('pending') ? (has('completed') ? 'running' : 'pending') : has('completed') ? 'completed' : 'skipped')
  const starts = item.steps.map((node) => ms(node.step.startTime)).filter(Number.isFinite)
  const ends = item.steps.map((node) => ms(node.step.endTime)).filter(Number.isFinite)
  item.start = starts.length ? Math.min(...starts) : Number.NaN
  item.end = ends.length && item.status !== 'running' && item.status !== 'paused' ? Math.max(...ends) : Number.NaN
}
