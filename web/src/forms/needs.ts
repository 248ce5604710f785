import { show } from '../api/json'
import type { Language } from './completion'
import type { Names, Place } from './names'
import { readPath, type Step, writePath } from './path'
import { type Chain, expressionLength, scan } from './scan'

/** A value that a text needs, at its path. */
export type Leaf = { path: readonly string[]; value: unknown }

/** The values that a text needs, or the first name that has none, or that is secret. */
export type Needs = { leaves: readonly Leaf[]; missing?: string; secret?: string }

/**
 * What a text with an expression or a secret needs to be evaluated; undefined for any other text, for one that is not
 * finished, and for one with an unknown name, which the server reports as a problem.
 */
export function needsOf(text: string, language: Language, names: Names): Needs | undefined {
  const chains = chainsOf(text, language)
  if (!chains) return undefined
  const leaves = new Map<string, Leaf>()
  let missing: string | undefined
  let secret: string | undefined
  const take = (path: string[], place: Place | undefined) => {
    const found = place ? leavesOf(place, path) : []
    if (found.length === 0) missing ??= writePath(path)
    for (const leaf of found) leaves.set(show(leaf.path, 0), leaf)
  }
  for (const [name, key] of chains.found) {
    const head = String(name)
    if (!Object.hasOwn(names, head)) return undefined
    if (names[head]!.secret) secret ??= head
    if (head === 'now') continue // the server's clock
    if (head !== 'nodes') take([head], names[head])
    else if (typeof key === 'string') take(['nodes', key], names.nodes?.members?.[key])
    else for (const leaf of leavesOf(names.nodes!, ['nodes'])) leaves.set(show(leaf.path, 0), leaf)
  }
  return secret !== undefined || chains.expressions > 0 ? { leaves: [...leaves.values()], missing, secret } : undefined
}

/** Reports whether two texts need the same values, which are compared by identity: they come from the same run. */
export function sameNeeds(a: Needs | undefined, b: Needs | undefined): boolean {
  if (!a || !b) return a === b
  return (
    a.missing === b.missing &&
    a.secret === b.secret &&
    a.leaves.length === b.leaves.length &&
    a.leaves.every((leaf, at) => Object.is(leaf.value, b.leaves[at]!.value) && samePath(leaf.path, b.leaves[at]!.path))
  )
}

/** The value as a text on one line: that of a text alone as JSON, as it keeps its kind; within other text as it is. */
export function showEvaluated(value: unknown, text: string, language: Language): string {
  const alone =
    language === 'expression' || (text.startsWith('{{=') && expressionLength(text.slice(3)) + 5 === text.length)
  return typeof value === 'string' && !alone ? value : show(value, 0)
}

// The paths of all names in a text, and the number of its expressions.
function chainsOf(text: string, language: Language): { found: Step[][]; expressions: number } | undefined {
  const found: Step[][] = []
  const add = (source: string): boolean => {
    const { chains, declared, end } = scan(source)
    const named = (chain: Chain) => chain.is === 'name' && !declared.has(String(chain.steps[0]))
    for (const chain of chains.filter(named)) found.push(chain.steps)
    return source.trim() !== '' && (end === 'code' || end === 'number')
  }
  if (language === 'expression') return add(text) ? { found, expressions: 1 } : undefined
  let expressions = 0
  for (let from = text.indexOf('{{'); from >= 0;) {
    let to = -1
    if (text[from + 2] === '=') {
      const length = expressionLength(text.slice(from + 3))
      if (length < 0 || !add(text.slice(from + 3, from + 3 + length))) return undefined
      to = from + 3 + length + 2
      expressions++
    } else {
      const inside = text.slice(from + 2).trimStart()
      const { steps, error } = readPath(inside)
      to = text.indexOf('}}', from + 2) + 2
      if (error || steps.length === 0 || to < 2) return undefined
      found.push(steps)
    }
    from = text.indexOf('{{', to)
  }
  return { found, expressions }
}

// The known values of a place, each with its path.
function leavesOf(place: Place, path: string[], depth = 0): Leaf[] {
  if (place.seen) return [{ path, value: place.value }]
  if (depth === 3) return []
  return Object.entries(place.members ?? {}).flatMap(([key, member]) => leavesOf(member, [...path, key], depth + 1))
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((step, at) => step === b[at])
}
