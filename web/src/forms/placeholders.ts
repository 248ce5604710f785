import { readPath } from './path'
import { expressionLength } from './scan'

/** A placeholder of a text: its first name, or the source of its expression. */
export type Placeholder = { expression: boolean; inside: string; name?: string }

/** The placeholders of a text; malformed ones as far as they can be parsed. */
export function placeholders(text: string): Placeholder[] {
  const found: Placeholder[] = []
  for (let from = text.indexOf('{{'); from >= 0;) {
    if (text[from + 2] === '=') {
      const length = expressionLength(text.slice(from + 3))
      const inside = text.slice(from + 3, length < 0 ? undefined : from + 3 + length)
      found.push({ expression: true, inside })
      from = text.indexOf('{{', from + 3 + inside.length)
    } else {
      const inside = text.slice(from + 2).trimStart()
      const read = readPath(inside)
      found.push({
        expression: false,
        inside: inside.slice(0, read.length),
        name: read.steps.length > 0 ? String(read.steps[0]) : undefined,
      })
      from = text.indexOf('{{', from + 2)
    }
  }
  return found
}
