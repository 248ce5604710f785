import type { Schema } from './json-schema'
import type { Names } from './names'

export type { Schema }

/** A problem in a value, as reported by blueprint.validate and by errors of calls. */
export type FormIssue = {
  /** Keys and positions from the value of the form. */
  path: readonly unknown[]
  message: string
  /** `error` (also when absent), `warning`, or `unfilled`: a new value lacks something, shown without alarm. */
  severity?: string
}

/** Context of the form that pickers need. */
export type FormContext = {
  /** The organization whose connections are offered besides the user's own; without it all visible ones. */
  organizationId?: string
  /** The edited blueprint, which is not offered as its own sub-blueprint. */
  blueprintId?: string
  /** The line and message of an error in a program, by the key of its field, from the last run. */
  codeErrors?: Record<string, { line: number; message: string }>
}

export type SchemaFormProps = {
  /** The schema of the value; the properties of an object become fields. */
  schema: Schema
  /** The value; undefined for none. Parts that the form does not show are kept. */
  value: unknown
  /** Called with the whole new value at every change; undefined when it is cleared. */
  onChange: (value: unknown) => void
  /** The problems; each is shown at its field, or at the nearest one around it. Paths start at the value. */
  issues?: readonly FormIssue[]
  /** The names for templates and expressions. With it text may contain templates; without it text is plain. */
  complete?: Names
  readOnly?: boolean
  context?: FormContext
  /** Top-level keys that the form hides; their values are kept. */
  hide?: readonly string[]
  /** Called when the focus leaves a field, with its path. */
  onLeave?: (path: readonly (string | number)[]) => void
}
