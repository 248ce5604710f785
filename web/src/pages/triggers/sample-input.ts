import { parseJson } from '../../api/json'
import { sampleInputText } from '../../text/triggers'

/** An example that is valid for a simple JSON Schema, as far as it can be guessed. */
export function exampleOf(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null || depth > 6) return {}
  const {
    type,
    properties,
    items,
    enum: words,
    default: given,
    const: fixed,
    examples,
  } = schema as Record<string, unknown>
  if (given !== undefined) return given
  if (fixed !== undefined) return fixed
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (Array.isArray(words) && words.length > 0) return words[0]
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return 'text'
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return [exampleOf(items, depth + 1)]
  }
  return Object.fromEntries(
    Object.entries((properties ?? {}) as Record<string, unknown>).map(([key, one]) => [key, exampleOf(one, depth + 1)]),
  )
}

/** Returns an error unless the text is a JSON object or empty. The field itself shows where JSON is malformed. */
export function checkObject(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    const value = parseJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? undefined
      : sampleInputText.mustBeAJsonObject
  } catch {
    return sampleInputText.invalidJson
  }
}
