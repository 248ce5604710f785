import { useEffect, useMemo, useRef, useState } from 'react'
import { api, type Outputs } from '../../api/client'
import { isAborted } from '../../api/errors'
import type { Problems } from '../../graph/flow'
import { readMap } from '../../graph/map'
import type { Unapplied } from '../../forms/unapplied'
import { locate } from './nested'
import type { Doc, EditorState } from './state'
import type { Place } from './unapplied-places'

/** An error or a warning, as reported by the server. */
export type Issue = Outputs['blueprint']['validate']['issues'][number]

/** An issue with its place. `unapplied`: the page found it, not the server; its field shows it too. */
export type Located = {
  message: string
  severity: 'error' | 'warning'
  level: string[]
  nodeId?: string
  edge?: number
  field: (string | number)[]
  variable?: number
  /** The name of that variable. */ variableName?: string
  path: readonly unknown[]
  unapplied?: boolean
  /** The value is missing or empty. */
  empty?: boolean
}

/** The result of validating the blueprint in the editor. */
export type Validation = { issues: Located[]; errors: number; warnings: number; checking: boolean; error: unknown }

const delay = 450

/**
 * Validates on the server, a moment after each change. Meanwhile the last result stays, but "no problems" is only
 * reported for the current document. Unapplied texts of fields are errors too.
 */
export function useValidation(doc: Doc, unapplied: readonly Unapplied<Place>[]): Validation {
  const [answer, setAnswer] = useState<{ issues: Issue[]; doc: Doc }>()
  const [error, setError] = useState<unknown>()
  const asked = useRef<Doc>(undefined)
  useEffect(() => {
    // Positions do not affect the validation.
    if (asked.current && sameButPlaces(asked.current, doc)) return
    const abort = new AbortController()
    const timer = setTimeout(
      () => {
        asked.current = doc
        api.blueprint.validate
          .mutate({ blueprint_map: doc.map, environment_variables: doc.variables }, { signal: abort.signal })
          .then(
            ({ issues }) => {
              setAnswer({ issues, doc })
              setError(undefined)
            },
            (failure: unknown) => {
              if (!isAborted(failure) && !abort.signal.aborted) setError(failure)
            },
          )
      },
      asked.current ? delay : 0,
    )
    return () => {
      clearTimeout(timer)
      abort.abort()
      if (asked.current === doc) asked.current = undefined
    }
  }, [doc])
  const told = useMemo(() => (answer ? answer.issues.map((issue) => place(issue, answer.doc)) : []), [answer])
  const issues = useMemo(
    () => [...unapplied.map((entry) => placeUnapplied(entry, doc)), ...told],
    [unapplied, told, doc],
  )
  const errors = issues.filter((issue) => issue.severity === 'error').length
  const fresh = useMemo(
    () => answer !== undefined && (answer.doc === doc || sameButPlaces(answer.doc, doc)),
    [answer, doc],
  )
  return {
    issues,
    errors,
    warnings: issues.length - errors,
    checking: error === undefined && issues.length === 0 && !fresh,
    error,
  }
}

function placeUnapplied({ place: at, path, message }: Unapplied<Place>, doc: Doc): Located {
  const common = { message, severity: 'error' as const, path, unapplied: true }
  if (at !== 'variables') return { ...common, level: [...at.level], nodeId: at.nodeId, field: [...path] }
  const variable = Number(path[0])
  const name = (doc.variables[variable] as { name?: unknown } | null | undefined)?.name
  return {
    ...common,
    level: [],
    field: path.slice(1),
    variable,
    variableName: typeof name === 'string' && name !== '' ? name : undefined,
  }
}

function place(issue: Issue, doc: Doc): Located {
  const severity = issue.severity === 'warning' ? ('warning' as const) : ('error' as const)
  const [root, ...path] = issue.path
  const common = { message: issue.message, severity, path: issue.path, empty: isEmpty(valueAt(doc, issue.path)) }
  if (root === 'environment_variables') {
    const variable = typeof path[0] === 'number' ? path[0] : 0
    const name = (doc.variables[variable] as { name?: unknown } | null | undefined)?.name
    return {
      ...common,
      level: [],
      field: path.slice(1) as (string | number)[],
      variable,
      variableName: typeof name === 'string' && name !== '' ? name : undefined,
    }
  }
  const found = locate(readMap(doc.map), root === 'blueprint_map' ? path : issue.path)
  return { ...common, ...found, nodeId: found.nodeId ?? (found.edge === undefined ? undefined : issue.nodeId) }
}

// The value of an issue: its path starts with the name of a part of the blueprint.
function valueAt({ map, variables }: Doc, path: readonly unknown[]): unknown {
  let value: unknown = { blueprint_map: map, environment_variables: variables }
  for (const step of path) value = (value as Record<string, unknown> | null | undefined)?.[String(step)]
  return value
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : (value ?? '') === ''
}

/** Reports whether an issue is only that a fresh node, of the visible level, is not filled in yet. */
export function isUnfilled(issue: Located, { level, fresh }: Pick<EditorState, 'level' | 'fresh'>): boolean {
  return (
    issue.empty === true &&
    issue.nodeId !== undefined &&
    fresh.has(issue.nodeId) &&
    issue.level.length === level.length &&
    issue.level.every((id, index) => id === level[index])
  )
}

/** The problems at each node of the visible level; those within a for-each count for it too. */
export function problemsAt(
  issues: readonly Located[],
  { level, fresh }: Pick<EditorState, 'level' | 'fresh'>,
): Map<string, Problems> {
  const found = new Map<string, Problems>()
  for (const issue of issues) {
    if (!level.every((id, index) => issue.level[index] === id)) continue
    const id = issue.level[level.length] ?? issue.nodeId
    if (id === undefined || issue.variable !== undefined) continue
    const count = found.get(id) ?? { errors: 0, warnings: 0, unfilled: 0 }
    const kind = isUnfilled(issue, { level, fresh }) ? 'unfilled' : issue.severity === 'error' ? 'errors' : 'warnings'
    found.set(id, { ...count, [kind]: count[kind] + 1 })
  }
  return found
}

function sameButPlaces(one: Doc, other: Doc): boolean {
  if (
    one.variables !== other.variables ||
    one.map.edges !== other.map.edges ||
    one.map.nodes.length !== other.map.nodes.length
  )
    return one === other
  return one.map.nodes.every((node, index) => {
    const next = other.map.nodes[index]!
    return (
      node === next ||
      (node.id === next.id &&
        node.config === next.config &&
        node.title === next.title &&
        node.type === next.type &&
        Object.keys(next).every((key) => key === 'position' || next[key] === node[key]) &&
        Object.keys(node).length === Object.keys(next).length)
    )
  })
}
