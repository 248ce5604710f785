import { parseJson } from '../../api/json'
import { isObject, readMap } from '../../graph/map'
import { same } from './same'
import type { Doc } from './state'

/** Unsaved changes in the storage of this browser. */
export type Draft = Doc & { version: string; /** When, in milliseconds. */ at: number }

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>

const largest = 2_000_000

/** The storage key of a blueprint's draft; each user of the computer has separate drafts. */
export function draftKey(userId: string, blueprintId: string): string {
  return `blueprintd.draft.${userId}.${blueprintId}`
}

/** Stores a draft without the values of secrets. A full or forbidden storage is not an error. */
export function keepDraft(storage: Storage, key: string, draft: Draft): void {
  try {
    const text = JSON.stringify({ ...draft, variables: draft.variables.map(withoutSecret) })
    if (text.length <= largest) storage.setItem(key, text)
  } catch {
    // the page still asks before it is left
  }
}

/** Removes a draft. */
export function dropDraft(storage: Storage, key: string): void {
  try {
    storage.removeItem(key)
  } catch {
    // then there is none
  }
}

/** The draft of a blueprint, if there is one that differs from the saved state. */
export function readDraft(storage: Storage, key: string, saved: Doc): Draft | undefined {
  let value: unknown
  try {
    value = parseJson(storage.getItem(key) ?? 'null')
  } catch {
    return undefined
  }
  if (
    !isObject(value) ||
    !isObject(value.map) ||
    !Array.isArray(value.variables) ||
    typeof value.version !== 'string' ||
    typeof value.at !== 'number'
  )
    return undefined
  const draft = { map: readMap(value.map), variables: value.variables, version: value.version, at: value.at }
  return same(draft.map, saved.map) && same(draft.variables, saved.variables.map(withoutSecret)) ? undefined : draft
}

// null in a variable keeps its stored secret.
function withoutSecret(variable: unknown): unknown {
  return isObject(variable) && variable.secret === true && variable.default !== undefined && variable.default !== ''
    ? { ...variable, default: null }
    : variable
}
