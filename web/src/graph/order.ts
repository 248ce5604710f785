import { edgesOf, type BlueprintMap, type MapEdge } from './map'

/**
 * The way from one node to another along edges, both ends included; undefined when there is none. It keeps its own
 * stack: a map may be ten thousand nodes deep.
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
 * What a new edge would close a circle with: the nodes of the circle in order, the first again at the end. Undefined
 * when the edge may be made.
 */
export function circle(edges: MapEdge[], source: string, target: string): string[] | undefined {
  const way = route(edges, target, source)
  return way && [source, ...way]
}

/** The edges that join each node of a list to the next: the order of a map without edges, written out. */
export function chain(ids: string[]): MapEdge[] {
  return ids.slice(1).map((target, index) => ({ source: ids[index]!, target }))
}

/**
 * The ids of a map's nodes, each behind all that lead to it and otherwise as the array has them. Nodes of a circle,
 * which no saved map has, come last.
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
  // A stack that is served in the array's order, so that one branch is walked to its end before the next begins.
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

/** The ids of all nodes that lead to one, itself left out. In a map without edges: all before it. */
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

/** The ids of all nodes that one leads to by edges, itself left out. */
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
