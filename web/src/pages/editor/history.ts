/** The undo history of an edited value. Immutable. */
export type History<T> = {
  readonly past: readonly Step<T>[]
  readonly present: T
  readonly future: readonly Step<T>[]
  /** The last change, so that a following one of the same kind can be merged. */
  readonly last?: { tag: string; at: number }
}

/** A state to undo or redo to, and the name of the change between it and its neighbour. */
type Step<T> = { readonly state: T; readonly name: string }

// The maximum number of steps.
const most = 200
// Milliseconds within which continued typing is one step.
const pause = 1500

/** A history that starts with a state. */
export function begin<T>(present: T): History<T> {
  return { past: [], present, future: [] }
}

/**
 * Makes `next` the current state. `name` describes the change ("delete 2 nodes"). Changes with the same `tag` in quick
 * succession are one step; `now` is in milliseconds. An equal state changes nothing.
 */
export function change<T>(
  history: History<T>,
  next: T,
  name: string,
  tag: string | undefined,
  now: number,
): History<T> {
  if (next === history.present) return history
  const last = tag === undefined ? undefined : { tag, at: now }
  const before = history.last
  if (last && before && before.tag === tag && now - before.at < pause && history.past.length > 0)
    return { ...history, present: next, future: [], last }
  return { past: [...history.past.slice(1 - most), { state: history.present, name }], present: next, future: [], last }
}

/** Undoes one step; returns the same history if there is none. */
export function undo<T>(history: History<T>): History<T> {
  const step = history.past.at(-1)
  if (!step) return history
  return {
    past: history.past.slice(0, -1),
    present: step.state,
    future: [{ state: history.present, name: step.name }, ...history.future],
  }
}

/** Redoes one step; returns the same history if there is none. */
export function redo<T>(history: History<T>): History<T> {
  const [step, ...future] = history.future
  if (!step) return history
  return { past: [...history.past, { state: history.present, name: step.name }], present: step.state, future }
}

/** The names of the changes that undo and redo would apply. */
export function names<T>(history: History<T>): { undo?: string; redo?: string } {
  return { undo: history.past.at(-1)?.name, redo: history.future[0]?.name }
}
