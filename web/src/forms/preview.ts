import { parseJson, show } from '../api/json'
import type { Language } from './completion'
import { memberOf, type Names, type Place } from './names'
import { readPath, type Step } from './path'

const longest = 200

/**
 * The value that a text has with the values of an earlier run; undefined if it has no placeholder, or if a placeholder
 * is not a path to a known value. Expressions are known only if they are a path.
 */
export function previewOf(text: string, language: Language, names: Names | undefined): string | undefined {
  if (!names) return undefined
  if (language === 'expression') {
    const found = valueOf(text, names)
    return found && cut(show(found.value, 0))
  }
  const parts: string[] = []
  let at = 0
  for (let from = text.indexOf('{{'); from >= 0; from = text.indexOf('{{', at)) {
    const inside = text.slice(from + 2)
    const path = readPath(inside.trimStart())
    const start = inside.length - inside.trimStart().length
    const end = path.error ? -1 : inside.indexOf('}}', start + path.length)
    const found = end < 0 ? undefined : valueOf(inside.slice(0, end), names)
    if (!found) return undefined
    // A placeholder alone keeps its kind of value.
    if (from === 0 && from + 2 + end + 2 === text.length) return cut(show(found.value, 0))
    parts.push(text.slice(at, from), typeof found.value === 'string' ? found.value : show(found.value, 0))
    at = from + 2 + end + 2
  }
  return at === 0 ? undefined : cut(parts.join('') + text.slice(at))
}

// The value of `path` or `path ?? literal`.
function valueOf(text: string, names: Names): { value: unknown } | undefined {
  const trimmed = text.trim()
  const { steps, length, error } = readPath(trimmed)
  if (error || steps.length === 0) return undefined
  const place = seenAt(names, steps)
  const rest = /^\s*\?\?\s*(.+)$/s.exec(trimmed.slice(length))
  if (!rest && trimmed.slice(length).trim() !== '') return undefined
  if (place?.seen && !(rest && place.value === null)) return { value: place.value }
  // Without its value, the standard is only known to apply if what contains it was seen.
  const around = seenAt(names, steps.slice(0, -1))
  if (!rest || !around?.seen) return undefined
  try {
    return { value: parseJson(rest[1]!) }
  } catch {
    return undefined
  }
}

// The place of a path; what was seen says more than what a type promises.
function seenAt(names: Names, steps: readonly Step[]): Place | undefined {
  let place: Place | undefined = { members: names }
  for (const step of steps) {
    if (!place) return undefined
    place = memberOf(place.seen ? { value: place.value, seen: true } : place, step)
  }
  return place
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}
