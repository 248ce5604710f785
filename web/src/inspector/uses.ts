import { scan } from '../forms/scan'
import { placeholders } from '../forms/placeholders'
import { type BlueprintMap, isObject, type MapNode, normalType } from '../graph/map'

const expressionsByDefault = new Map(
  Object.entries<string[]>({
    transform: ['expression'],
    conditional: ['condition'],
    switch: ['cases[].when'],
    'for-each': ['items'],
  }),
)

/** The nodes that use each variable, by its name; nodes within a for-each are listed individually. */
export function usesOf(
  map: BlueprintMap,
  expressions: (type: string) => readonly string[] | undefined = () => undefined,
): Map<string, MapNode[]> {
  const uses = new Map<string, MapNode[]>()
  for (const node of map.nodes) {
    for (const name of namesIn(
      node,
      expressions(normalType(node.type)) ?? expressionsByDefault.get(normalType(node.type)) ?? [],
    )) {
      const list = uses.get(name)
      if (list) list.push(node)
      else uses.set(name, [node])
    }
    const inner = innerMap(node)
    if (inner)
      for (const [name, nodes] of usesOf(inner, expressions)) uses.set(name, [...(uses.get(name) ?? []), ...nodes])
  }
  return uses
}

// The first names of all paths in a node's config.
function namesIn(node: MapNode, expressions: readonly string[]): Set<string> {
  const found = new Set<string>()
  const type = normalType(node.type)
  const walk = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      if (type === 'code' && key === 'source') namesOfCode(value).forEach((name) => found.add(name))
      else if (expressions.includes(key)) namesOfExpression(value).forEach((name) => found.add(name))
      else
        for (const one of placeholders(value))
          (one.expression ? namesOfExpression(one.inside) : one.name ? [one.name] : []).forEach((name) =>
            found.add(name),
          )
    } else if (Array.isArray(value)) {
      if (!(type === 'for-each' && (key === 'nodes' || key === 'edges')))
        value.forEach((item) => walk(item, `${key}[]`))
    } else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) walk(item, key === '' ? name : `${key}.${name}`)
    }
  }
  walk(node.config, '')
  return found
}

function namesOfExpression(source: string): string[] {
  const { chains, declared } = scan(source)
  return chains
    .filter((chain) => chain.is === 'name')
    .map((chain) => String(chain.steps[0]))
    .filter((name) => !declared.has(name))
}

// Code accesses them through the object "variables".
function namesOfCode(source: string): string[] {
  const named = [
    ...source.matchAll(
      /\bvariables\s*(?:\?\.|\.)\s*([A-Za-z0-9_]+)|\bvariables\s*(?:\?\.)?\s*\[\s*["'`]([A-Za-z0-9_]+)["'`]\s*\]/g,
    ),
  ].map((match) => match[1] ?? match[2]!)
  const taken = [...source.matchAll(/\{([^{}]*)\}\s*=\s*variables\b/g)].flatMap((match) =>
    match[1]!.split(',').map((part) => part.split(/[:=]/)[0]!.trim()),
  )
  return [...named, ...taken.filter((name) => /^[A-Za-z0-9_]+$/.test(name))]
}

function innerMap(node: MapNode): BlueprintMap | undefined {
  if (normalType(node.type) !== 'for-each' || !Array.isArray(node.config.nodes)) return undefined
  const nodes = node.config.nodes.filter(
    (one): one is MapNode => isObject(one) && isObject(one.config) && typeof one.type === 'string',
  )
  return { nodes }
}
