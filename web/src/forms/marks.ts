import type { Language } from './completion'
import { placeAt } from './completion'
import { cannotHave, type Names } from './names'
import { readPath, type Step, writePath } from './path'
import { expressionLength, scan } from './scan'
import { marksText } from '../text/forms'

/** A highlighted part of a text. */
export type Mark = { from: number; to: number; kind: 'template' | 'unknown' | 'bad'; message?: string }

/**
 * The placeholders of a text, with those that are malformed or contain unknown names. With names undefined, no name is
 * checked.
 */
export function marksOf(text: string, language: Language, names?: Names): Mark[] {
  if (language === 'expression') return unknownIn(text, 0, names)
  const marks: Mark[] = []
  for (let from = text.indexOf('{{'); from >= 0;) {
    const [to, inner] = text[from + 2] === '=' ? expressionAt(text, from, names) : pathAt(text, from, names)
    marks.push(...inner)
    from = text.indexOf('{{', to)
  }
  return marks
}

function expressionAt(text: string, from: number, names: Names | undefined): [number, Mark[]] {
  const length = expressionLength(text.slice(from + 3))
  if (length < 0) return [text.length, [{ from, to: text.length, kind: 'bad', message: marksText.hasNoClosing }]]
  const to = from + 3 + length + 2
  return [
    to,
    layered({ from, to, kind: 'template' }, unknownIn(text.slice(from + 3, from + 3 + length), from + 3, names)),
  ]
}

function pathAt(text: string, from: number, names: Names | undefined): [number, Mark[]] {
  let at = from + 2
  const skip = () => {
    at += /^\s*/.exec(text.slice(at))![0].length
  }
  const bad = (message: string): [number, Mark[]] => {
    const end = text.indexOf('}}', Math.min(at, text.length))
    const next = text.indexOf('{{', from + 2)
    const to = end >= 0 && (next < 0 || end < next) ? end + 2 : next >= 0 ? next : text.length
    return [to, [{ from, to, kind: 'bad', message }]]
  }
  skip()
  const start = at
  const read = readPath(text.slice(at))
  at += read.length
  if (read.error)
    return bad(marksText.after(read.error[0]!.toUpperCase(), read.error.slice(1), text.slice(from, at).slice(0, 40)))
  skip()
  const fallback = text.startsWith('??', at)
  if (fallback) {
    const end = literalEnd(text, at + 2)
    if (end === undefined) return bad(marksText.expectedAJsonValueAfterFor)
    at = end
    skip()
  }
  if (!text.startsWith('}}', at))
    return bad(at >= text.length ? marksText.missing : marksText.expectedBefore(text.slice(at, at + 12)))
  const mark: Mark = { from, to: at + 2, kind: 'template' }
  const message = fallback ? undefined : unknown(read.steps, names)
  return [
    at + 2,
    message ? layered(mark, [{ from: start, to: start + read.length, kind: 'unknown', message }]) : [mark],
  ]
}

// The end of the JSON value that starts here: the first "}}" before which the text is valid.
function literalEnd(text: string, from: number): number | undefined {
  for (let end = text.indexOf('}}', from), turn = 0; end >= 0 && turn < 20; end = text.indexOf('}}', end + 1), turn++) {
    try {
      JSON.parse(text.slice(from, end))
      return end
    } catch {
      /** a longer one may be valid */
    }
  }
  return undefined
}

function unknownIn(source: string, offset: number, names: Names | undefined): Mark[] {
  if (!names) return []
  const { chains, declared } = scan(source)
  return chains.flatMap((chain): Mark[] => {
    if (chain.is !== 'name' || declared.has(String(chain.steps[0]))) return []
    const message = unknown(chain.steps, names)
    return message ? [{ from: offset + chain.from, to: offset + chain.to, kind: 'unknown', message }] : []
  })
}

function unknown(steps: Step[], names: Names | undefined): string | undefined {
  if (!names || steps.length === 0) return undefined
  if (!Object.hasOwn(names, steps[0]!)) return marksText.unknownName(steps[0])
  for (let length = 1; length < steps.length; length++) {
    const place = placeAt(names, steps.slice(0, length))
    if (!place) return undefined
    if (cannotHave(place, steps[length]!)) return marksText.hasNoField(writePath(steps.slice(0, length)), steps[length])
  }
  return undefined
}

// A mark that contains other marks, split into parts that do not overlap.
function layered(whole: Mark, inner: Mark[]): Mark[] {
  const pieces: Mark[] = []
  let at = whole.from
  for (const mark of inner) {
    if (mark.from > at) pieces.push({ ...whole, from: at, to: mark.from })
    pieces.push(mark)
    at = mark.to
  }
  if (at < whole.to) pieces.push({ ...whole, from: at })
  return pieces
}
