/** The form fields for a run's variables, and the values to send. */
import { parseJson, show } from '../../api/json'
import { variableFieldsText } from '../../text/runs'

/** A declared variable of a blueprint. */
export type Variable = {
  name: string
  type: 'string' | 'number' | 'boolean' | 'json'
  description: string
  required: boolean
  secret: boolean
  /** Absent without a default. `null` for a secret that the caller may not read. */
  preset?: unknown
}

/** The content of a field: text, and for secrets whether the stored value is used instead. */
export type Field = { text: string; stored: boolean }
/** The fields by the variables' names. */
export type Fields = Record<string, Field>

/** Parses declared variables; invalid ones are ignored. */
export function readVariables(declared: unknown): Variable[] {
  if (!Array.isArray(declared)) return []
  return declared.flatMap((one: unknown) => {
    const value = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>
    if (typeof value.name !== 'string') return []
    const type = value.type === 'number' || value.type === 'boolean' || value.type === 'json' ? value.type : 'string'
    const read: Variable = {
      name: value.name,
      type,
      description: typeof value.description === 'string' ? value.description : '',
      required: value.required === true,
      secret: value.secret === true,
    }
    if (Object.hasOwn(value, 'default')) read.preset = value.default
    return [read]
  })
}

/** Reports whether a variable has its own value, so that a run need not set it. */
export function hasPreset(variable: Variable): boolean {
  return variable.preset !== undefined && (variable.secret || variable.preset !== null)
}

/** The initial fields: the defaults of the blueprint, or the values of an earlier run. A secret is never shown. */
export function firstFields(variables: Variable[], earlier: Record<string, unknown> = {}): Fields {
  const fields: Fields = {}
  for (const variable of variables) {
    const given = !variable.secret && Object.hasOwn(earlier, variable.name) ? earlier[variable.name] : variable.preset
    fields[variable.name] = variable.secret
      ? { text: '', stored: hasPreset(variable) }
      : { text: textOf(variable, given), stored: false }
  }
  return fields
}

/** The values to send and the faults, by the variables' names. Values equal to the default are omitted. */
export function readFields(
  variables: Variable[],
  fields: Fields,
): { values: Record<string, unknown>; faults: Record<string, string> } {
  const values: Record<string, unknown> = {}
  const faults: Record<string, string> = {}
  for (const variable of variables) {
    const field = fields[variable.name]
    if (!field || (variable.secret && field.stored)) continue
    if (!variable.secret && hasPreset(variable) && field.text === textOf(variable, variable.preset)) continue
    const cleared = field.text === '' || (variable.type !== 'string' && field.text.trim() === '')
    // A cleared text is an empty text if there is a default; otherwise it is no value.
    if (cleared && !(variable.type === 'string' && hasPreset(variable))) {
      if (variable.required && !hasPreset(variable)) faults[variable.name] = variableFieldsText.requiredToStartTheRun
      else if (hasPreset(variable)) faults[variable.name] = variableFieldsText.enterAValueOrRestoreThe
      continue
    }
    try {
      values[variable.name] = valueOf(variable, field.text)
    } catch (fault) {
      faults[variable.name] = fault instanceof Error ? fault.message : String(fault)
    }
  }
  return { values, faults }
}

function textOf(variable: Variable, value: unknown): string {
  if (value === undefined || value === null) return ''
  return variable.type === 'string' && typeof value === 'string' ? value : show(value)
}

function valueOf(variable: Variable, text: string): unknown {
  switch (variable.type) {
    case 'number':
      if (!/^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/.test(text))
        throw new Error('Must be a number, such as 12 or 0.5.')
      return parseJson(text)
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new Error('Must be true or false.')
      return text === 'true'
    case 'json':
      try {
        return parseJson(text)
      } catch {
        throw new Error('Must be JSON.')
      }
    default:
      return text
  }
}

/** The server's error for a variable. */
export function serverFault(
  issues: { path: (string | number)[]; message: string }[],
  name: string,
): string | undefined {
  return issues.find(({ path }) => path.some((part, at) => part === 'variables' && path[at + 1] === name))?.message
}
