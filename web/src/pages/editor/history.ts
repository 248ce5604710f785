/** Every state of what is edited, with the present one in the middle. Immutable. */
export type History<T> = {
  readonly past: readonly Step<T>[]
  readonly present: T
  readonly future: readonly Step<T>[]
  /** What the last change was, so that the next of the same kind can join it. */
  readonly last?: { tag: string; at: number }
}

/** A state to undo or redo to, and the name of the change between it and its neighbour. */
type Step<T> = { readonly state: T; readonly name: string }

// The number of steps that are kept.
const most = 200
// Milliseconds within which continued typing counts as one step.
const pause = 1500

/** A history that begins here. */
export function begin<T>(present: T): History<T> {
  return { past: [], present, future: [] }
}

/**
 * Makes `next` the present. `name` says what was done ("delete 2 nodes"). Changes with the same `tag` that follow each
 * other soon are one step; `now` is in milliseconds. A state that is the present already changes nothing.
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

/** Goes one step back; the same history when there is none. */
export function undo<T>(history: History<T>): History<T> {
  const step = history.past.at(-1)
  if (!step) return history
  return {
    past: history.past.slice(0, -1),
    present: step.state,
    future: [{ state: history.present, name: step.name }, ...history.future],
  }
}

/** Goes one step forth again; the same history when there is none. */
export function redo<T>(history: History<T>): History<T> {
  const [step, ...future] = history.future
  if (!step) return history
  return { past: [...history.past, { state: history.present, name: step.name }], present: step.state, future }
}

/** What undo would take back, and what redo would do again. */
export function names<T>(history: History<T>): { undo?: string; redo?: string } {
  return { undo: history.past.at(-1)?.name, redo: history.future[0]?.name }
}
