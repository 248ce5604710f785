/** A JSON Schema, draft 2020-12. The forms support a part of it; the rest falls back to a JSON editor. */
export type Schema = Record<string, unknown> | boolean

/** One of the possible values of a field. */
export type Choice = { value: unknown; label: string }
