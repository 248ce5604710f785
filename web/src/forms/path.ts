import { pathText } from '../text/forms'

/** The paths of templates: name(.key | [index] | ["key"])*, as the server parses them. */

/** One step of a path: a key, or a position. */
export type Step = string | number

const names = /^[\p{L}\p{Nd}_]+/u

/** Reports whether a text can be a name, or a key after a point. */
export function isName(text: string): boolean {
  return nameLength(text) === text.length && text !== ''
}

/** The number of letters, digits and "_" at the start of a text. */
export function nameLength(text: string): number {
  return names.exec(text)?.[0].length ?? 0
}

/** A step as written in a path: `.key`, `["odd key"]` or `[0]`. */
export function writeStep(step: Step): string {
  if (typeof step === 'number') return `[${step}]`
  return isName(step) ? `.${step}` : `[${JSON.stringify(step)}]`
}

/** A path as it is written in a template; the first step is a name. */
export function writePath(steps: readonly Step[]): string {
  return steps.map((step, index) => (index === 0 ? String(step) : writeStep(step))).join('')
}

/** The parsed start of a path: `length` characters of the text are a whole path, followed by something else. */
export type ReadPath = { steps: Step[]; length: number; error?: string }

/** Parses the path at the start of a text. With an error, `length` is its position. */
export function readPath(text: string): ReadPath {
  let at = nameLength(text)
  if (at === 0) return { steps: [], length: 0, error: pathText.expectedAName }
  const steps: Step[] = [text.slice(0, at)]
  for (;;) {
    const rest = text.slice(at)
    if (rest.startsWith('.')) {
      const length = nameLength(rest.slice(1))
      if (length === 0)
        return {
          steps,
          length: at + 1,
          error: pathText.expectedAKeyWriteKeysWith,
        }
      steps.push(rest.slice(1, 1 + length))
      at += 1 + length
    } else if (rest.startsWith('[')) {
      const step = /^\[(\d{1,9})\]/.exec(rest) ?? /^\[("(?:[^"\\]|\\.)*")\]/.exec(rest)
      const read = step && readBracket(step[1]!)
      if (!step || read === undefined || read === null)
        return { steps, length: at + 1, error: pathText.expectedAWholeNumberOrA }
      steps.push(read)
      at += step[0].length
    } else {
      return { steps, length: at }
    }
  }
}

function readBracket(inside: string): Step | undefined {
  if (!inside.startsWith('"')) return Number(inside)
  try {
    return JSON.parse(inside) as string
  } catch {
    return undefined
  }
}
