import { nameLength, readPath, type Step } from './path'

/** A name with the points and brackets after it, in an expression: `input.orders[0].id`. */
export type Chain = {
  from: number
  to: number
  steps: Step[]
  /**
   * A call: a function, or the key of an object literal, or a word of the language. None of them is a name in scope.
   */
  is: 'name' | 'call' | 'key' | 'word' | 'item'
}

/** The result of scanning an expression. */
export type Scanned = {
  chains: Chain[]
  /** The context at the end: in a text, a comment or a number nothing is a name. */
  end: 'code' | 'text' | 'comment' | 'number'
  /** The lists of the predicates around the end, innermost last. */
  lists: Step[][]
  /** Names declared by let in the expression. */
  declared: Set<string>
}

/** Words of the expression language that are not names. */
export const words = new Set([
  'true',
  'false',
  'nil',
  'null',
  'and',
  'or',
  'not',
  'in',
  'contains',
  'startsWith',
  'endsWith',
  'matches',
  'let',
  'if',
  'else',
])

/** Scans an expression: enough to know its names and the context at its end. Never fails. */
export function scan(source: string): Scanned {
  const chains: Chain[] = []
  const declared = new Set<string>()
  const calls: { list?: Step[] }[] = []
  let end: Scanned['end'] = 'code'
  let before = '' // the last non-blank character
  for (let at = 0; at < source.length;) {
    const rest = source.slice(at, at + 2)
    const char = source[at]!
    if (char === '"' || char === "'" || char === '`') {
      const length = textLength(source, at)
      if (length < 0) {
        end = 'text'
        break
      }
      at += length
      before = char
      continue
    }
    if (rest === '//' || rest === '/*') {
      const close = rest === '//' ? source.indexOf('\n', at) : source.indexOf('*/', at + 2)
      if (close < 0) {
        end = 'comment'
        break
      }
      at = close + (rest === '//' ? 1 : 2)
      continue
    }
    const number = /^\d[\d_.]*(?:[eE][+-]?\d*)?/.exec(source.slice(at, at + 64))
    if (number && !number[0].endsWith('..')) {
      at += number[0].length
      before = '0'
      if (at === source.length) end = 'number'
      continue
    }
    if (nameLength(char) > 0 || isItem(source, at, before)) {
      const chain = readChain(source, at, before, calls.at(-1)?.list)
      if (before !== 'let') chains.push(chain)
      const word = chain.steps.length === 1 && chain.is !== 'item' ? String(chain.steps[0]) : ''
      if (before === 'let') declared.add(word)
      // The first argument of a call is the list of a predicate.
      if (calls.length > 0 && before === '(' && chain.is === 'name') calls.at(-1)!.list = chain.steps
      at = chain.to
      before = word === 'let' ? 'let' : 'a'
      continue
    }
    if (char === '(') calls.push({})
    if (char === ')') calls.pop()
    if (!/\s/.test(char)) before = char
    at++
  }
  return { chains, end, lists: calls.flatMap((call) => (call.list ? [call.list] : [])), declared }
}

// The item of a predicate is written as # or omitted: #.id, .id
function isItem(source: string, at: number, before: string): boolean {
  if (source[at] === '#') return true
  return source[at] === '.' && source[at + 1] !== '.' && !/[\w\])"'`.0a]/.test(before)
}

function readChain(source: string, from: number, before: string, list: Step[] | undefined): Chain {
  const item = source[from] === '#' || source[from] === '.'
  // Parsed as a path in which the item is named "_".
  const skipped = source[from] === '#' ? 1 + nameLength(source.slice(from + 1)) : 0
  const text = item ? `_${source.slice(from + skipped)}` : source.slice(from)
  const plain = text.replaceAll('?.', '.') // optional steps; they only make it shorter
  const read = readPath(plain)
  let to = from + originalLength(text, read.error ? read.length - 1 : read.length) - (item ? 1 - skipped : 0)
  to = Math.max(to, from + 1)
  const steps = item ? [...(list ?? ['#']), 0, ...read.steps.slice(1)] : read.steps
  const after = source.slice(to).trimStart()
  const first = String(read.steps[0])
  let is: Chain['is'] = 'name'
  if (item) is = 'item'
  else if (read.steps.length === 1 && words.has(first)) is = 'word'
  else if (after.startsWith('(')) is = 'call'
  else if ((before === '{' || before === ',') && /^:(?!:)/.test(after) && read.steps.length === 1) is = 'key'
  return { from, to, steps, is }
}

// The length in the original text of a prefix of the text without the question marks of "?.".
function originalLength(text: string, length: number): number {
  let at = 0
  for (let left = length; left > 0 && at < text.length; at++) if (!(text[at] === '?' && text[at + 1] === '.')) left--
  return at
}

// The length of the string literal at a position, -1 if it does not end.
function textLength(source: string, from: number): number {
  const quote = source[from]
  for (let at = from + 1; at < source.length; at++) {
    if (source[at] === '\\' && quote !== '`') at++
    else if (source[at] === quote) return at + 1 - from
  }
  return -1
}

/**
 * The length of the text before the }} that ends an expression, or -1. Braces may be nested in it, and occur in its
 * strings and comments.
 */
export function expressionLength(source: string): number {
  let braces = 0
  for (let at = 0; at < source.length; at++) {
    const char = source[at]!
    if (char === '"' || char === "'" || char === '`') {
      const length = textLength(source, at)
      if (length < 0) return -1
      at += length - 1
    } else if (source.startsWith('//', at)) {
      const close = source.indexOf('\n', at)
      if (close < 0) return -1
      at = close
    } else if (source.startsWith('/*', at)) {
      const close = source.indexOf('*/', at + 2)
      if (close < 0) return -1
      at = close + 1
    } else if (char === '{') braces++
    else if (char === '}' && braces > 0) braces--
    else if (source.startsWith('}}', at)) return at
  }
  return -1
}
