import { isRaw } from '../api/json'
import type { Change, GraphDiff } from '../graph'
import {
  edgeKey,
  edgesOf,
  handleOf,
  isObject,
  isSequential,
  MAIN,
  readMap,
  type BlueprintMap,
  type JsonObject,
  type MapEdge,
} from '../graph/map'

/** A changed value; undefined where there is none. The path starts at the node, variable or map. */
export type FieldChange = { path: (string | number)[]; before: unknown; after: unknown }
/** A changed node, edge or variable. An added or removed one lists all its fields. */
export type ItemChange = { id: string; kind: Change; title: string; type?: string; fields: FieldChange[] }

/** The differences between two versions. */
export type VersionDiff = {
  nodes: ItemChange[]
  edges: ItemChange[]
  variables: ItemChange[]
  /** Other members of the map. */
  other: FieldChange[]
  /** Nodes that only moved on the canvas. */
  moved: string[]
  /** Both versions run the nodes in sequence, in a different order. */
  reordered: boolean
  /** A change from a sequence to edges, or back. */
  wiring?: 'to edges' | 'to order'
}

/** The compared parts of a version. */
export type Content = { blueprint_map: unknown; environment_variables: unknown[] }

/** Compares two versions: nodes by id, edges by their ends and handle, variables by name. */
export function diffVersions(before: Content, after: Content): VersionDiff {
  const [old, fresh] = [readMap(before.blueprint_map), readMap(after.blueprint_map)]
  const nodes = compare(
    keyed(old.nodes, (node) => node.id),
    keyed(fresh.nodes, (node) => node.id),
    (id, node, kind, fields): ItemChange => ({
      id,
      kind,
      title: node.title || id,
      type: node.type,
      fields: fields.filter(({ path }) => path[0] !== 'position' && (kind === 'changed' || path[0] !== 'id')),
    }),
  )
  const moved = nodes.filter(({ kind, fields }) => kind === 'changed' && fields.length === 0).map(({ id }) => id)
  const names = new Map([...old.nodes, ...fresh.nodes].map((node) => [node.id, node.title || node.id]))
  const edges = compare(
    keyed(edgesOf(old), edgeKey),
    keyed(edgesOf(fresh), edgeKey),
    (id, edge, kind, fields): ItemChange => ({
      id,
      kind,
      title: sayEdge(edge, names),
      fields: kind === 'changed' ? fields : [],
    }),
  )
  const variables = compare(
    keyed(before.environment_variables.filter(isObject), nameOf),
    keyed(after.environment_variables.filter(isObject), nameOf),
    (id, _variable, kind, fields): ItemChange => ({
      id,
      kind,
      title: id,
      fields: fields.filter(({ path }) => kind === 'changed' || path[0] !== 'name'),
    }),
  )
  const rest = (map: BlueprintMap): JsonObject =>
    Object.fromEntries(Object.entries(map).filter(([key]) => key !== 'nodes' && key !== 'edges'))
  const [first, second] = [isSequential(old), isSequential(fresh)]
  const wired = old.nodes.length > 1 && fresh.nodes.length > 1 && first !== second
  return {
    nodes: nodes.filter(({ id }) => !moved.includes(id)),
    edges,
    variables,
    moved,
    other: fieldChanges(rest(old), rest(fresh)),
    reordered: first && second && otherOrder(old, fresh),
    ...(wired ? { wiring: first ? ('to edges' as const) : ('to order' as const) } : {}),
  }
}

/** Reports whether two versions run the same; node positions may differ. */
export function isEmpty(diff: VersionDiff): boolean {
  return diff.nodes.length + diff.edges.length + diff.variables.length + diff.other.length === 0 && !diff.reordered
}

/** Whether two versions differ in nothing but their layout: positions, notes and groups. The server applies drafts by the same rule. */
export function differOnlyInLayout(before: Content, after: Content): boolean {
  const diff = diffVersions(before, after)
  return isEmpty({ ...diff, other: diff.other.filter(({ path }) => path[0] !== 'notes' && path[0] !== 'groups') })
}

/** The changed values, recursively where both are objects, or lists of the same length. */
export function fieldChanges(before: unknown, after: unknown, path: (string | number)[] = []): FieldChange[] {
  if (Object.is(before, after)) return []
  if (isRaw(before) || isRaw(after))
    return isRaw(before) && isRaw(after) && before.rawJSON === after.rawJSON ? [] : [{ path, before, after }]
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length === after.length && path.length < 12)
      return before.flatMap((item, index) => fieldChanges(item, after[index], [...path, index]))
  } else if (isObject(before) && isObject(after) && path.length < 12) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...keys].flatMap((key) => fieldChanges(own(before, key), own(after, key), [...path, key]))
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }]
}

/**
 * The versions, newest first, whose nodes, edges or variables differ from the previous version: publishing, a new title
 * or a moved node creates a version number without changing what runs. `until` is the newest version with the same
 * content.
 */
export function contentVersions<V extends Content & { version: string }>(
  versions: readonly V[],
): (V & { until: string })[] {
  const found: (V & { until: string })[] = []
  let until: string | undefined
  for (const [index, version] of versions.entries()) {
    until ??= version.version
    const before = versions[index + 1]
    if (before && isEmpty(diffVersions(before, version))) continue
    found.push({ ...version, until })
    until = undefined
  }
  return found
}

/** The newer map with removed parts added back, and the marks that GraphView shows on it. */
export function graphDiff(before: unknown, after: unknown, diff: VersionDiff): { map: BlueprintMap; marks: GraphDiff } {
  const [old, fresh] = [readMap(before), readMap(after)]
  const gone = new Set(diff.nodes.filter(({ kind }) => kind === 'removed').map(({ id }) => id))
  const lost = new Set(diff.edges.filter(({ kind }) => kind === 'removed').map(({ id }) => id))
  const map: BlueprintMap = { ...fresh, nodes: [...fresh.nodes, ...old.nodes.filter((node) => gone.has(node.id))] }
  const edges = [...edgesOf(fresh), ...edgesOf(old).filter((edge) => lost.has(edgeKey(edge)))]
  if (edges.length > 0) map.edges = edges
  const marks = (items: ItemChange[]) => new Map(items.map(({ id, kind }) => [id, kind]))
  return { map, marks: { nodes: marks(diff.nodes), edges: marks(diff.edges) } }
}

type Keyed<Item> = Map<string, Item>

// Of items with the same key (a stored map has no such nodes) the later ones get a numeric suffix.
function keyed<Item>(items: Item[], keyOf: (item: Item) => string): Keyed<Item> {
  const map: Keyed<Item> = new Map()
  for (const item of items) {
    let key = keyOf(item)
    for (let count = 2; map.has(key); count++) key = `${keyOf(item)} ${count}`
    map.set(key, item)
  }
  return map
}

function compare<Item>(
  before: Keyed<Item>,
  after: Keyed<Item>,
  make: (id: string, item: Item, kind: Change, fields: FieldChange[]) => ItemChange,
): ItemChange[] {
  const changes: ItemChange[] = []
  for (const [id, item] of after) {
    if (!before.has(id)) changes.push(make(id, item, 'added', fieldChanges({}, item)))
    else {
      const fields = fieldChanges(before.get(id), item)
      if (fields.length > 0) changes.push(make(id, item, 'changed', fields))
    }
  }
  for (const [id, item] of before) if (!after.has(id)) changes.push(make(id, item, 'removed', fieldChanges(item, {})))
  return changes
}

function nameOf(variable: JsonObject): string {
  return typeof variable.name === 'string' ? variable.name : ''
}

function sayEdge(edge: MapEdge, names: Map<string, string>): string {
  const handle = handleOf(edge)
  return `${names.get(edge.source) ?? edge.source}${handle === MAIN ? '' : ` (${handle})`} → ${names.get(edge.target) ?? edge.target}`
}

function otherOrder(old: BlueprintMap, fresh: BlueprintMap): boolean {
  const ids = (map: BlueprintMap, other: BlueprintMap) => {
    const known = new Set(other.nodes.map((node) => node.id))
    return map.nodes
      .map((node) => node.id)
      .filter((id) => known.has(id))
      .join('\n')
  }
  return ids(old, fresh) !== ids(fresh, old)
}

// A key may be named __proto__ or constructor: only the object's own members count.
function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
