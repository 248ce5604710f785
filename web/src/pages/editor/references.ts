import { type NodeType, typeIn } from '../../graph/node-types'
import { isObject, normalType, type BlueprintMap, type JsonObject, type MapNode } from '../../graph/map'
import { edgesOf } from '../../graph/map'

/**
 * References to a node in templates, expressions and code: `nodes.<id>`, `nodes["<id>"]`, and `input.<id>` in a node
 * with several predecessors. Quoted text is not a reference.
 */
export type Reference = { nodeId: string; path: (string | number)[]; count: number }

/** The config keys whose strings are expressions, by type. */
export type Expressions = (type: string) => readonly string[]

/** The keys in the catalogue. */
export function expressionsOf(types: readonly NodeType[]): Expressions {
  return (type) => typeIn(types, type)?.expressions ?? []
}

/** The references to a node of a map, including those in for-each bodies that do not hide its id. */
export function referencesTo(map: BlueprintMap, id: string, expressions: Expressions): Reference[] {
  const found: Reference[] = []
  replaceIn(map, id, id, expressions, (nodeId, path, count) => found.push({ nodeId, path, count }))
  return found
}

/** The map with every reference to a node replaced. Edges stay unchanged. */
export function replaceReferences(map: BlueprintMap, from: string, to: string, expressions: Expressions): BlueprintMap {
  return replaceIn(map, from, to, expressions, () => {})
}

type Found = (nodeId: string, path: (string | number)[], count: number) => void

function replaceIn(map: BlueprintMap, from: string, to: string, expressions: Expressions, found: Found): BlueprintMap {
  const feeding = new Map<string, Set<string>>()
  for (const edge of edgesOf(map)) feeding.set(edge.target, (feeding.get(edge.target) ?? new Set()).add(edge.source))
  let changed = false
  const nodes = map.nodes.map((node) => {
    const sources = feeding.get(node.id)
    const names = sources && sources.size > 1 && sources.has(from) ? ['nodes', 'input'] : ['nodes']
    const config = configWith(node, names, from, to, expressions, (path, count) => found(node.id, path, count))
    if (config === node.config) return node
    changed = true
    return { ...node, config }
  })
  return changed ? { ...map, nodes } : map
}

function configWith(
  node: MapNode,
  names: string[],
  from: string,
  to: string,
  expressions: Expressions,
  found: (path: (string | number)[], count: number) => void,
): JsonObject {
  const type = normalType(node.type)
  const whole = new Set(expressions(type))
  const walk = (value: unknown, path: (string | number)[], key: string): unknown => {
    if (typeof value === 'string') {
      const isCode = type === 'code' && key === 'source'
      const mode: Mode = isCode ? 'code' : whole.has(key) ? 'expression' : 'template'
      const result = replaceText(value, mode, names, from, to)
      if (result.count > 0) found(path, result.count)
      return result.text
    }
    if (Array.isArray(value)) {
      if (type === 'for-each' && key === 'nodes') return body(value, path)
      return same(
        value,
        value.map((item, index) => walk(item, [...path, index], `${key}[]`)),
      )
    }
    if (!isObject(value) || isRawNumber(value)) return value
    if ((key === 'schema' && type === 'human') || (key === 'responseSchema' && type === 'ai-prompt')) return value
    const entries = Object.entries(value).map(
      ([name, item]) => [name, walk(item, [...path, name], key === '' ? name : `${key}.${name}`)] as const,
    )
    return entries.every(([name, item]) => item === value[name]) ? value : Object.fromEntries(entries)
  }
  // A for-each body is a separate map: a node there with the same id hides the outer one.
  const body = (list: unknown[], path: (string | number)[]): unknown => {
    const inner = list.filter(isObject) as MapNode[]
    if (inner.length !== list.length || inner.some((each) => each.id === from)) return list
    return same(
      list,
      inner.map((each, index) => {
        if (!isObject(each.config)) return each
        const config = configWith(each, ['nodes'], from, to, expressions, (at, count) =>
          found([...path, index, 'config', ...at], count),
        )
        return config === each.config ? each : { ...each, config }
      }),
    )
  }
  return walk(node.config, [], '') as JsonObject
}

type Mode = 'template' | 'expression' | 'code'

/** Replaces the id of a node in a text; `count` is the number of replacements. */
export function replaceText(
  text: string,
  mode: Mode,
  names: string[],
  from: string,
  to: string,
): { text: string; count: number } {
  if (!text.includes(from)) return { text, count: 0 }
  if (mode !== 'template') return replaceNames(text, mode === 'code', names, from, to)
  let out = ''
  let count = 0
  let at = 0
  for (;;) {
    const start = text.indexOf('{{', at)
    const end = start < 0 ? -1 : closing(text, start + 2)
    if (end < 0) return { text: out + text.slice(at), count }
    const inner = replaceNames(text.slice(start + 2, end), false, names, from, to)
    out += text.slice(at, start + 2) + inner.text
    count += inner.count
    at = end
  }
}

// The position of a template's closing braces; quotes may contain braces.
function closing(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const sign = text[at]!
    if (sign === '"' || sign === "'") at = quoteEnd(text, at)
    else if (text.startsWith('}}', at)) return at
  }
  return text.indexOf('}}', from)
}

function replaceNames(text: string, isCode: boolean, names: string[], from: string, to: string) {
  let out = ''
  let count = 0
  let at = 0
  while (at < text.length) {
    const rest = text.slice(at, at + 2)
    if (isCode && rest === '//') at = copy(indexOr(text, '\n', at))
    else if (isCode && rest === '/*') at = copy(indexOr(text, '*/', at + 2) + 2)
    else if (text[at] === '"' || text[at] === "'") at = copy(quoteEnd(text, at) + 1)
    else if (!/[A-Za-z_$]/.test(text[at]!)) at = copy(at + 1)
    else {
      const word = /^[\w$]+/.exec(text.slice(at, at + 500))![0]
      const member = /[\w$]$/.test(out) || (/\.\s*$/.test(out) && !/\.\.\.\s*$/.test(out))
      const key = !member && names.includes(word) ? keyBehind(text, at + word.length) : undefined
      if (key && key.id === from) {
        out += word + written(key, to)
        at = key.end
        count++
      } else at = copy(at + word.length)
    }
  }
  return { text: out, count }

  function copy(end: number): number {
    out += text.slice(at, end)
    return Math.min(end, text.length)
  }
}

type Key = { id: string; end: number; optional: boolean }

// The key after a name: `.key`, `?.key`, `["key"]`, `?.["key"]`.
function keyBehind(text: string, at: number): Key | undefined {
  const rest = text.slice(at, at + 1200)
  const dotted = /^\s*(\?)?\.\s*([\w$]+)/.exec(rest)
  if (dotted) return { id: dotted[2]!, end: at + dotted[0].length, optional: dotted[1] !== undefined }
  const quoted = /^\s*(\?\.?)?\[\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\]/.exec(rest)
  if (!quoted) return undefined
  const id = unquote(quoted[2]!)
  return id === undefined ? undefined : { id, end: at + quoted[0].length, optional: quoted[1] !== undefined }
}

function written(key: Key, id: string): string {
  if (/^[A-Za-z_]\w*$/.test(id)) return `${key.optional ? '?' : ''}.${id}`
  return `${key.optional ? '?.' : ''}[${JSON.stringify(id)}]`
}

function unquote(text: string): string | undefined {
  if (text[0] === "'") return text.slice(1, -1).replaceAll("\\'", "'")
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}

function quoteEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[start]) return at
  }
  return text.length
}

function indexOr(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from)
  return at < 0 ? text.length : at
}

function same<T>(before: readonly T[], after: T[]): readonly T[] {
  return after.every((item, index) => item === before[index]) ? before : after
}

// Numbers kept as text are frozen objects with this one member.
function isRawNumber(value: JsonObject): boolean {
  return Object.isFrozen(value) && 'rawJSON' in value
}
