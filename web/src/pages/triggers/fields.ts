import { issueFor } from '../../api/errors'
import type { Config } from './types'
import { fieldsText } from '../../text/triggers'

/** What the fields of each type get. */
export type FieldsProps = {
  config: Config
  /** Sets keys; undefined takes one away. */
  set: (change: Config) => void
  /** The error of the last attempt to save. */
  error: unknown
  /** Whether the trigger exists already. */
  stored: boolean
}

/** The message for a field, if the server has one. */
export function fault(error: unknown, ...path: string[]): string | undefined {
  return issueFor(error, ['config', ...path].join('.')) ?? nested(error, path)
}

// An issue within a value that has one field only: the schema, the list of senders.
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
