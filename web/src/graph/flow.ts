import type { Edge, Node } from '@xyflow/react'
import { detour, type Detour } from './detour'
import { handlesOf, usedHandles, type Handle } from './handles'
import { edgeKey, edgesOf, handleOf, isSequential, MAIN, positionOf, type BlueprintMap, type MapNode } from './map'
import { chain, flowOrder } from './order'
import { cardHeight, HEAD, handleTop, WIDTH } from './sizes'
import { flowText } from '../text/graph'

/** The change of a node or an edge between two versions. */
export type Change = 'added' | 'removed' | 'changed'

/** The differences between two versions: by node id, and by edgeKey. */
export type GraphDiff = { nodes: ReadonlyMap<string, Change>; edges?: ReadonlyMap<string, Change> }

/** The number of errors and warnings of a node, and of values that a new one still lacks. */
export type Problems = { errors: number; warnings: number; unfilled: number }

/** The state shown on a map. */
export type Shown = {
  /** Statuses of steps, by node id. */
  statuses?: ReadonlyMap<string, string>
  diff?: GraphDiff
  problems?: ReadonlyMap<string, Problems>
  /** The ids of nodes with a pinned output. */
  pinned?: ReadonlySet<string>
  /** Whether edges can be drawn from the handles of cards. */
  editable?: boolean
}

/** The content of a card. */
export type CardData = {
  node: MapNode
  handles: Handle[]
  /** The position of the node in a sequence, from 1. */
  turn?: number
  status?: string
  change?: Change
  problems?: Problems
  pinned?: boolean
  editable?: boolean
  /** The handles that lead nowhere yet. */
  free: readonly string[]
}
/** A node of the canvas. */
export type CardNode = Node<CardData, 'card'>
/**
 * An edge of the canvas; `order` edges only show the sequence of the nodes, `beside` edges lead from a trigger, or from
 * the place for the first one.
 */
export type WireData = {
  order?: boolean
  beside?: 'trigger' | 'none'
  label?: string
  change?: Change
  status?: string
  detour?: Detour
}
/** See {@link WireData}. */
export type WireEdge = Edge<WireData, 'wire'>

/**
 * The cards of a map in the order of its flow, which is the tab order. An unchanged card is the same object as in
 * `before`, so that it is not rendered again.
 */
export function toCards(map: BlueprintMap, shown: Shown = {}, before: readonly CardNode[] = []): CardNode[] {
  const used = usedHandles(map)
  const old = new Map(before.map((card) => [card.id, card]))
  const nodes = new Map(map.nodes.map((node, index) => [node.id, { node, turn: index + 1 }]))
  const ordered = isSequential(map) && map.nodes.length > 1
  return flowOrder(map).map((id) => {
    const { node, turn } = nodes.get(id)!
    const handles = handlesOf(node, used.get(id))
    const leads = ordered && turn < map.nodes.length ? new Set([handles[0]!.id]) : used.get(id)
    const data: CardData = {
      node,
      handles,
      free: handles.flatMap((handle) => (handle.dead || leads?.has(handle.id) ? [] : [handle.id])),
      turn: ordered ? turn : undefined,
      status: shown.statuses?.get(id),
      change: shown.diff?.nodes.get(id),
      problems: shown.problems?.get(id),
      pinned: shown.pinned?.has(id),
      editable: shown.editable,
    }
    const position = positionOf(node) ?? { x: 0, y: 0 }
    const last = old.get(id)
    if (last && sameData(last.data, data)) {
      if (last.position.x === position.x && last.position.y === position.y) return last
      return { ...last, position }
    }
    const height = cardHeight(data.handles)
    return {
      ...last,
      id,
      type: 'card',
      position,
      data,
      width: WIDTH,
      height,
      measured: { width: WIDTH, height },
      handles: anchors(data.handles),
      ariaLabel: sayCard(data),
    }
  })
}

/** The edges of a map, or of its sequence. Edges with the same key get a numeric suffix. */
export function toWires(map: BlueprintMap, shown: Shown = {}, selected: ReadonlySet<string> = new Set()): WireEdge[] {
  const statusOf = (source: string, target: string) => {
    const reached = shown.statuses?.has(source) ? shown.statuses.get(target) : undefined
    return reached && reached !== 'pending' && reached !== 'skipped' ? 'taken' : undefined
  }
  const around = detours(map)
  const titles = new Map(map.nodes.map((node) => [node.id, node.title || node.id]))
  const titleOf = (id: string) => titles.get(id) ?? id
  if (isSequential(map)) {
    return chain(map.nodes.map((node) => node.id)).map(({ source, target }, index) => {
      const key = edgeKey({ source, target, sourceHandle: lineHandle(map.nodes[index]!) })
      return {
        id: `order ${key}`,
        type: 'wire',
        source,
        target,
        sourceHandle: lineHandle(map.nodes[index]!),
        selected: selected.has(key),
        focusable: false,
        reconnectable: false,
        ariaLabel: flowText.order(titleOf(source), titleOf(target)),
        data: {
          order: true,
          label: index === 0 ? flowText.runsInOrder : undefined,
          status: statusOf(source, target),
          detour: around[index],
        },
      }
    })
  }
  const seen = new Map<string, number>()
  return edgesOf(map).map((edge, index) => {
    const key = edgeKey(edge)
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    return {
      id: count === 1 ? key : `${key} ${count}`,
      type: 'wire',
      source: edge.source,
      target: edge.target,
      sourceHandle: handleOf(edge),
      selected: selected.has(key),
      focusable: false,
      ariaLabel: flowText.edge(
        [titleOf(edge.source), ...(handleOf(edge) === MAIN ? [] : [handleOf(edge)])].join(', '),
        titleOf(edge.target),
      ),
      data: { change: shown.diff?.edges?.get(key), status: statusOf(edge.source, edge.target), detour: around[index] },
    }
  })
}

/** The key of the edge that a wire draws. */
export function keyOfWire(id: string): string {
  return id.replace(/^order /, '').replace(/\] \d+$/, ']')
}

// The positions of a card's edges, so that they can be drawn before the card is.
function anchors(handles: Handle[]): CardNode['handles'] {
  const size = { width: 12, height: 12 }
  return [
    { ...size, type: 'target', position: 'left' as never, x: -6, y: HEAD / 2 - 6 },
    ...handles.map((handle, index) => ({
      ...size,
      type: 'source' as const,
      position: 'right' as never,
      id: handle.id,
      x: WIDTH - 6,
      y: handleTop(handles, index) - 6,
    })),
  ]
}

// The detours of a map's edges in drawing order. Computed once for a map: statuses of a run move nothing.
function detours(map: BlueprintMap): readonly (Detour | undefined)[] {
  const known = foundDetours.get(map)
  if (known) return known
  const found: (Detour | undefined)[] = []
  foundDetours.set(map, found)
  const edges = isSequential(map) ? chain(map.nodes.map((node) => node.id)) : edgesOf(map)
  if (edges.length * map.nodes.length > mostPairs) return found
  const used = usedHandles(map)
  const boxes = new Map(
    map.nodes.map((node) => {
      const handles = handlesOf(node, used.get(node.id))
      return [node.id, { ...(positionOf(node) ?? { x: 0, y: 0 }), width: WIDTH, height: cardHeight(handles), handles }]
    }),
  )
  const taken: Detour[] = []
  for (const edge of edges) {
    const [from, to] = [boxes.get(edge.source), boxes.get(edge.target)]
    const index = from?.handles.findIndex((each) => each.id === handleOf(edge)) ?? 0
    const way =
      from &&
      to &&
      detour(
        { x: from.x + WIDTH, y: from.y + handleTop(from.handles, Math.max(0, index)) },
        { x: to.x, y: to.y + HEAD / 2 },
        [...boxes.values()].filter((box) => box !== from && box !== to),
        taken,
      )
    if (way) taken.push(way)
    found.push(way)
  }
  return found
}

const foundDetours = new WeakMap<BlueprintMap, readonly (Detour | undefined)[]>()
// Edges times nodes; beyond this, finding cards in the way is noticeably slow.
const mostPairs = 500_000

// The handle from which the order of an array is drawn: the first that the card shows.
function lineHandle(node: MapNode): string {
  return handlesOf(node)[0]!.id
}

// Statuses that the dashboard calls otherwise.
const statusWords = new Map(Object.entries<string>({ paused: flowText.paused, pending: flowText.pending }))

function sayCard({ node, turn, status, change, problems, pinned }: CardData): string {
  const parts = [turn === undefined ? '' : `${turn}.`, `${node.title || node.id}, ${node.type}`]
  if (node.disabled) parts.push(flowText.disabled)
  if (pinned) parts.push(flowText.pinned)
  if (status) parts.push(statusWords.get(status) ?? status)
  if (change) parts.push(change)
  if (problems?.errors) parts.push(problems.errors === 1 ? flowText.n1Error : flowText.errors(problems.errors))
  if (problems?.warnings)
    parts.push(problems.warnings === 1 ? flowText.n1Warning : flowText.warnings(problems.warnings))
  if (problems?.unfilled) parts.push(flowText.notSetUpYet)
  return parts.filter(Boolean).join(', ').replace('., ', '. ')
}

function sameData(one: CardData, other: CardData): boolean {
  return (
    one.node === other.node &&
    one.turn === other.turn &&
    one.status === other.status &&
    one.change === other.change &&
    one.editable === other.editable &&
    one.pinned === other.pinned &&
    one.problems?.errors === other.problems?.errors &&
    one.problems?.warnings === other.problems?.warnings &&
    one.problems?.unfilled === other.problems?.unfilled &&
    one.free.join() === other.free.join() &&
    one.handles.length === other.handles.length &&
    one.handles.every(
      (handle, index) => handle.id === other.handles[index]!.id && handle.dead === other.handles[index]!.dead,
    )
  )
}
