import type { Schema } from './json-schema'
import type { Names } from './names'

export type { Schema }

/** What is wrong or doubtful somewhere in a value: as blueprint.validate and errors of calls tell it. */
export type FormIssue = {
  /** Keys and positions from the value of the form. */
  path: readonly unknown[]
  message: string
  /** `error` (also when absent) or `warning`. */
  severity?: string
}

/** What pickers need to know of the place of the form. */
export type FormContext = {
  /** The organization whose connections can be picked besides one's own; all that one sees when absent. */
  organizationId?: string
  /** The blueprint that is edited; it is not offered as its own sub-blueprint. */
  blueprintId?: string
  /** The line and message of an error in a program, by the key of its field, from the last run. */
  codeErrors?: Record<string, { line: number; message: string }>
}

export type SchemaFormProps = {
  /** The schema of the value; of an object the properties become fields. */
  schema: Schema
  /** The value; undefined when there is none yet. What the form does not show is kept. */
  value: unknown
  /** Told the whole new value with every change; undefined when it was cleared. */
  onChange: (value: unknown) => void
  /** What is wrong; each is shown at its field, or at the nearest field around it. Paths start at the value. */
  issues?: readonly FormIssue[]
  /** What templates and expressions can name. With it text may hold templates; without it text is only text. */
  complete?: Names
  readOnly?: boolean
  context?: FormContext
  /** Top-level keys that the form leaves out; their values are kept. */
  hide?: readonly string[]
  /** Called when the focus leaves a field, with its path. */
  onLeave?: (path: readonly (string | number)[]) => void
}
