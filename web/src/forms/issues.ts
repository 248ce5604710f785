import { showPath } from '../api/errors'
import type { FormIssue } from './types'

/** The issues of one place in a value. */
export type Here = {
  /** Issues of the value itself. */
  own: FormIssue[]
  /** Issues of its members, with paths relative to it. */
  within: FormIssue[]
}

/** Splits the issues of a value, whose paths start at it, into its own and those of its members. */
export function split(issues: readonly FormIssue[]): Here {
  return {
    own: issues.filter((issue) => issue.path.length === 0),
    within: issues.filter((issue) => issue.path.length > 0),
  }
}

/** The issues at or below a member; their paths start at the member. */
export function below(issues: readonly FormIssue[], key: string | number): FormIssue[] {
  if (issues.length === 0) return none
  const found = issues.filter((issue) => issue.path.length > 0 && issue.path[0] === key)
  return found.length === 0 ? none : found.map((issue) => ({ ...issue, path: issue.path.slice(1) }))
}

const none: FormIssue[] = []

/** Issues whose path starts with a prefix, without the prefix. */
export function under(issues: readonly FormIssue[], prefix: readonly (string | number)[]): FormIssue[] {
  return issues
    .filter((issue) => prefix.every((part, index) => issue.path[index] === part))
    .map((issue) => ({ ...issue, path: issue.path.slice(prefix.length) }))
}

/** The message of an issue, with its remaining path if that has no field of its own. */
export function sentence(issue: FormIssue): string {
  const path = showPath(issue.path as (string | number)[])
  return path === '' ? issue.message : `${path}: ${issue.message}`
}

/** Errors first, without duplicates. */
export function ordered(issues: readonly FormIssue[]): FormIssue[] {
  const seen = new Set<string>()
  const fresh = issues.filter((issue) => !seen.has(sentence(issue)) && seen.add(sentence(issue)))
  return [...fresh.filter(isError), ...fresh.filter((issue) => !isError(issue))]
}

/** Reports whether an issue is an error. */
export function isError({ severity = 'error' }: FormIssue): boolean {
  return severity === 'error'
}
