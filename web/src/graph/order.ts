import { edgesOf, type BlueprintMap, type MapEdge } from './map'

/**
 * The path from one node to another along edges, including both; undefined for none. It uses an explicit stack, because
 * a map may be ten thousand nodes deep.
 */
export function route(edges: MapEdge[], from: string, to: string): string[] | undefined {
  const next = targets(edges)
  const before = new Map<string, string | undefined>([[from, undefined]])
  const queue = [from]
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (id === to) return back(before, to)
    for (const target of next.get(id) ?? []) {
      if (before.has(target)) continue
      before.set(target, id)
      queue.push(target)
    }
  }
  return undefined
}

/**
 * The cycle that a new edge would create: its nodes in order, the first again at the end. Undefined if there is none.
 */
export function circle(edges: MapEdge[], source: string, target: string): string[] | undefined {
  const way = route(edges, target, source)
  return way && [source, ...way]
}

/** The edges that connect each node of a list to the next: a sequence as edges. */
export function chain(ids: string[]): MapEdge[] {
  return ids.slice(1).map((target, index) => ({ source: ids[index]!, target }))
}

/**
 * The ids of a map's nodes, each after its predecessors and otherwise in the order of the array. Nodes of a cycle,
 * which no stored map has, come last.
 */
export function flowOrder(map: BlueprintMap): string[] {
  const edges = edgesOf(map)
  const ids = map.nodes.map((node) => node.id)
  if (edges.length === 0) return ids
  const place = new Map(ids.map((id, index) => [id, index]))
  const open = new Map(ids.map((id) => [id, 0]))
  for (const edge of edges) open.set(edge.target, (open.get(edge.target) ?? 0) + 1)
  const next = targets(edges)
  const order: string[] = []
  // The stack keeps the order of the array, so that one branch is completed before the next begins.
  const stack = ids.filter((id) => open.get(id) === 0).reverse()
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    order.push(id)
    const ready: string[] = []
    for (const target of next.get(id) ?? []) {
      const left = open.get(target)! - 1
      open.set(target, left)
      if (left === 0) ready.push(target)
    }
    ready.sort((a, b) => place.get(b)! - place.get(a)!)
    stack.push(...ready)
  }
  if (order.length < ids.length) {
    const listed = new Set(order)
    order.push(...ids.filter((id) => !listed.has(id)))
  }
  return order
}

/** The ids of all predecessors of a node, direct or not. In a map without edges: all before it. */
export function upstream(map: BlueprintMap, id: string): Set<string> {
  const edges = edgesOf(map)
  if (edges.length === 0) {
    const ids = map.nodes.map((node) => node.id)
    return new Set(ids.slice(0, Math.max(0, ids.indexOf(id))))
  }
  const sources = new Map<string, string[]>()
  for (const edge of edges) sources.set(edge.target, [...(sources.get(edge.target) ?? []), edge.source])
  const seen = new Set<string>()
  const queue = [id]
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const source of sources.get(at) ?? []) {
      if (seen.has(source)) continue
      seen.add(source)
      queue.push(source)
    }
  }
  return seen
}

/** The ids of all successors of a node along edges, direct or not. */
export function downstream(map: BlueprintMap, id: string): Set<string> {
  const next = targets(edgesOf(map))
  const seen = new Set<string>()
  const queue = [id]
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const target of next.get(at) ?? []) {
      if (seen.has(target)) continue
      seen.add(target)
      queue.push(target)
    }
  }
  return seen
}

function targets(edges: MapEdge[]): Map<string, string[]> {
  const next = new Map<string, string[]>()
  for (const edge of edges) {
    const list = next.get(edge.source)
    if (list) list.push(edge.target)
    else next.set(edge.source, [edge.target])
  }
  return next
}

function back(before: Map<string, string | undefined>, to: string): string[] {
  const way: string[] = []
  for (let at: string | undefined = to; at !== undefined; at = before.get(at)) way.push(at)
  return way.reverse()
}
