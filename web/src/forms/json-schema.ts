/** A JSON Schema, draft 2020-12, of which the forms know a part; the rest falls back to a JSON editor. */
export type Schema = Record<string, unknown> | boolean

/** One of the values that a field can have. */
export type Choice = { value: unknown; label: string }
