import { issueFor } from '../../api/errors'
import type { Config } from './types'
import { fieldsText } from '../../text/triggers'

/** The props of the fields of each type. */
export type FieldsProps = {
  config: Config
  /** Sets keys; undefined removes one. */
  set: (change: Config) => void
  /** The error of the last attempt to save. */
  error: unknown
  /** Whether the trigger already exists. */
  stored: boolean
}

/** The server's message for a field, if any. */
export function fault(error: unknown, ...path: string[]): string | undefined {
  return issueFor(error, ['config', ...path].join('.')) ?? nested(error, path)
}

// An issue within a value that has a single field: the schema, the list of senders.
function nested(error: unknown, path: string[]): string | undefined {
  const issues = (error as { data?: { issues?: { path: (string | number)[]; message: string }[] } } | null)?.data
    ?.issues
  if (!Array.isArray(issues) || path.length !== 1) return undefined
  const found = issues.find(
    (issue) =>
      issue.path[0] === 'config' && issue.path[1] === path[0] && issue.path.length > 2 && path[0] !== 'concurrency',
  )
  const rest = found?.path.slice(2) ?? []
  return found && `${typeof rest[0] === 'number' ? fieldsText.entry(rest[0] + 1) : rest.join('.')}: ${found.message}`
}
