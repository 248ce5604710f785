import { functions, operators } from './functions'
import { memberOf, membersOf, type Names, type Place, sampleOf, typeOf } from './names'
import { nameLength, readPath, type Step, writePath, writeStep } from './path'
import { expressionLength, scan } from './scan'

/** The content of a field: text with placeholders, or an expression. */
export type Language = 'template' | 'expression'

/** The position in a text where a name is being typed. */
export type Spot = {
  language: 'path' | 'expression'
  /** The path before the step that is being typed; empty at the start of a path. */
  base: Step[]
  /** The typed part of the step. */
  query: string
  /** The start of the text that a suggestion replaces. */
  from: number
  to: number
  /** The placeholder is not closed yet. */
  open: boolean
  /** Nothing is typed yet: suggestions are shown only on request. */
  quiet: boolean
}

/** A suggestion for a spot. */
export type Suggestion = {
  /** Its label in the list: the path from the spot on, or a function. */
  label: string
  /** The inserted text. */
  insert: string
  kind: 'name' | 'function' | 'operator'
  type: string
  sample: string
  note: string
  /** It has members. */
  more: boolean
}

const shown = 50 // maximum number of suggestions
const looked = 2000 // maximum number of places searched

/** The spot at a caret, or undefined where no name is allowed. */
export function spotAt(text: string, caret: number, language: Language): Spot | undefined {
  if (language === 'expression') return spotInExpression(text, 0, caret, false)
  for (let from = text.indexOf('{{'); from >= 0 && from + 2 <= caret;) {
    const inside = from + 2
    if (text[inside] === '=') {
      if (caret === inside) return undefined
      const length = expressionLength(text.slice(inside + 1))
      if (length < 0 || inside + 1 + length >= caret) return spotInExpression(text, inside + 1, caret, length < 0)
      from = text.indexOf('{{', inside + 1 + length)
      continue
    }
    const end = pathEnd(text, inside)
    if (end < 0 || end >= caret) {
      const next = text.indexOf('{{', inside)
      return spotInPath(text, inside, caret, end < 0 || (next >= 0 && next < end))
    }
    from = text.indexOf('{{', end + 2)
  }
  return undefined
}

// The position of the }} of a placeholder; a quoted key may contain the same.
function pathEnd(text: string, from: number): number {
  const rest = text.slice(from).trimStart()
  const blanks = text.length - from - rest.length
  return text.indexOf('}}', from + blanks + readPath(rest).length)
}

function spotInPath(text: string, from: number, caret: number, open: boolean): Spot | undefined {
  const written = text.slice(from, caret)
  const blanks = written.length - written.trimStart().length
  return spotInChain(text, from + blanks, caret, 'path', open)
}

function spotInExpression(text: string, from: number, caret: number, open: boolean): Spot | undefined {
  const { chains, end, lists } = scan(text.slice(from, caret))
  const bracket = end === 'text' ? /[\p{L}\p{Nd}_\])]\["[^"\\\]]*$/u.exec(text.slice(from, caret)) : null
  if (bracket) {
    const whole = scan(text.slice(from, from + bracket.index + 1)).chains.at(-1)
    return whole && whole.to === bracket.index + 1
      ? spotInChain(
          text,
          from + whole.from,
          caret,
          'expression',
          open,
          itemBase(whole.is, lists, text, from + whole.from),
        )
      : undefined
  }
  if (end !== 'code') return undefined
  const last = chains.at(-1)
  const rest = last && text.slice(from + last.to, caret)
  if (last && (rest === '' || rest === '.' || rest === '?.' || rest === '[')) {
    return spotInChain(
      text,
      from + last.from,
      caret,
      'expression',
      open,
      itemBase(last.is, lists, text, from + last.from),
    )
  }
  // A point or # that starts the item of a predicate.
  const tail = /(^|[\s(,!=<>&|+\-*/?:])[.#]$/.exec(text.slice(from, caret))
  if (tail && lists.length > 0) {
    return {
      language: 'expression',
      base: [...lists.at(-1)!, 0],
      query: '',
      from: caret - 1,
      to: caret + nameLength(text.slice(caret)),
      open,
      quiet: false,
    }
  }
  if (/[\p{L}\p{Nd}_)\]"']$/u.test(text.slice(from, caret))) return undefined
  return {
    language: 'expression',
    base: [],
    query: '',
    from: caret,
    to: caret + nameLength(text.slice(caret)),
    open,
    quiet: text.slice(from, caret).trim() !== '',
  }
}

// The path of the item of a predicate, and its length in the text.
function itemBase(
  is: string,
  lists: Step[][],
  text: string,
  from: number,
): { steps: Step[]; length: number } | undefined {
  if (is !== 'item') return undefined
  return { steps: [...(lists.at(-1) ?? ['#']), 0], length: text[from] === '#' ? 1 : 0 }
}

function spotInChain(
  text: string,
  from: number,
  caret: number,
  language: Spot['language'],
  open: boolean,
  item?: { steps: Step[]; length: number },
): Spot | undefined {
  const source = text.slice(from, caret).replaceAll('?.', '.')
  const lost = caret - from - source.length
  const written = item ? `_${source.slice(item.length)}` : source
  const shift = from + lost + (item ? item.length - 1 : 0)
  const steps = (list: Step[]) => (item ? [...item.steps, ...list.slice(1)] : list)
  const spot = (base: Step[], query: string, at: number, to: number): Spot => ({
    language,
    base,
    query,
    from: at,
    to,
    open,
    quiet: false,
  })
  const wordEnd = caret + nameLength(text.slice(caret))
  if (written === '') return spot([], '', caret, wordEnd)
  const read = readPath(written)
  if (!read.error) {
    if (read.length < written.length) return undefined // followed by something else, such as ??
    const last = read.steps.at(-1)!
    const length = read.steps.length === 1 ? String(last).length : writeStep(last).length
    if (typeof last === 'number' || written.endsWith(']')) return undefined
    if (item && read.steps.length === 1) return undefined
    return spot(steps(read.steps.slice(0, -1)), last, caret - length, wordEnd)
  }
  if (read.length === written.length && written.endsWith('.'))
    return spot(steps(read.steps), '', shift + read.length - 1, wordEnd)
  const rest = written.slice(read.length)
  const bracket = /^"?([^"\]]*)$/.exec(rest)
  if (written[read.length - 1] === '[' && bracket) {
    const after = /^[^"\]\s}]*"?\]?/.exec(text.slice(caret))?.[0].length ?? 0
    return spot(steps(read.steps), bracket[1]!, shift + read.length - 1, caret + after)
  }
  return undefined
}

/** The suggestions for a spot, best first. */
export function suggest(spot: Spot, names: Names): Suggestion[] {
  const base = placeAt(names, spot.base)
  const query = spot.query.toLowerCase()
  const found: { rank: number; suggestion: Suggestion }[] = []
  if (base) {
    for (const { steps, place } of walk(base, query === '' ? 1 : 4)) {
      const label = spot.base.length === 0 ? writePath(steps) : steps.map(writeStep).join('')
      const rank = rankOf(String(steps.at(-1)), label, steps.length, query)
      if (rank === undefined) continue
      const more = membersOf(place).length > 0
      found.push({
        rank,
        suggestion: {
          label: label.replace(/^\./, ''),
          insert: label,
          kind: 'name',
          type: typeOf(place),
          sample: sampleOf(place),
          note: place.note ?? '',
          more,
        },
      })
    }
  }
  if (spot.language === 'expression' && spot.base.length === 0) {
    for (const { name, takes, about } of functions) {
      const rank = rankOf(name, name, 3, query)
      if (rank !== undefined)
        found.push({
          rank,
          suggestion: {
            label: name + takes,
            insert: `${name}(`,
            kind: 'function',
            type: 'function',
            sample: '',
            note: about,
            more: false,
          },
        })
    }
    for (const { name, about } of query === '' ? [] : operators) {
      const rank = rankOf(name, name, 3, query)
      if (rank !== undefined)
        found.push({
          rank,
          suggestion: {
            label: name,
            insert: name,
            kind: 'operator',
            type: 'operator',
            sample: '',
            note: about,
            more: false,
          },
        })
    }
  }
  return found
    .sort((a, b) => a.rank - b.rank)
    .slice(0, shown)
    .map((one) => one.suggestion)
}

/** The text with a suggestion inserted, and the new position of the caret. */
export function accept(text: string, spot: Spot, suggestion: Suggestion): { text: string; caret: number } {
  const before = text.slice(0, spot.from)
  const rest = text.slice(spot.to)
  let caret = spot.from + suggestion.insert.length
  let after = rest
  // An open placeholder is closed; the caret moves after it if the path is complete.
  if (spot.open && suggestion.kind === 'name') after = `}}${rest}`
  if (spot.language === 'path' && !suggestion.more) {
    const close = /^\s*}}/.exec(after)
    if (close) caret += close[0].length
  }
  return { text: before + suggestion.insert + after, caret }
}

/** The place of a path, or undefined if it is unknown. */
export function placeAt(names: Names, path: readonly Step[]): Place | undefined {
  let place: Place | undefined = { members: names }
  for (const step of path) {
    if (!place) return undefined
    const next: Place | undefined = memberOf(place, step)
    // The items of a list are probably alike.
    place = next ?? (typeof step === 'number' ? memberOf(place, 0) : undefined)
  }
  return place
}

// The places below one, nearest first. A place with a single, closed member is skipped in favour of that member.
function* walk(base: Place, depth: number): Generator<{ steps: Step[]; place: Place }> {
  let level: { steps: Step[]; place: Place }[] = [{ steps: [], place: base }]
  let left = looked
  for (let deep = 0; deep < depth && level.length > 0; deep++) {
    const next: typeof level = []
    for (const { steps, place } of level) {
      for (const { key, place: member } of membersOf(place)) {
        if (left-- <= 0) return
        let one = { steps: [...steps, key], place: member }
        const only = member.closed ? membersOf(member) : []
        if (only.length === 1) one = { steps: [...one.steps, only[0]!.key], place: only[0]!.place }
        yield one
        next.push(one)
      }
    }
    level = next
  }
}

function rankOf(key: string, path: string, depth: number, query: string): number | undefined {
  if (query === '') return depth
  const name = key.toLowerCase()
  const whole = path.toLowerCase()
  if (name === query) return depth
  if (name.startsWith(query)) return 10 + depth
  if (whole.startsWith(query) || whole.startsWith(`.${query}`)) return 20 + depth
  if (name.includes(query)) return 30 + depth
  if (whole.includes(query)) return 40 + depth
  return undefined
}
