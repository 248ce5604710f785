/** The visible list of runs: its first page is refetched regularly, older pages are added below. */
import type { Outputs } from '../../api/client'

/** A page as returned by the server. */
export type RunPage = Outputs['execution']['listRuns']
/** One run in the list. */
export type ListedRun = RunPage['runs'][number]

/** The visible list. */
export type RunList = {
  runs: ListedRun[]
  /** The cursor of older runs; `null`: there are none. */
  next: string | null
  /** How far back the server has searched, if the page is not full for that reason. */
  searchedUntil: string | null
  /** Newer runs that are withheld so that the list does not move while the user reads. */
  held: number
}

/**
 * The list after its first page was fetched again. With `hold`, because the user has scrolled down, new runs are
 * withheld.
 */
export function withFirst(before: RunList | null, page: RunPage, hold: boolean): RunList {
  const fresh = { runs: page.runs, next: page.next, searchedUntil: page.searchedUntil, held: 0 }
  if (!before || before.runs.length === 0) return fresh
  const known = new Set(before.runs.map((run) => run.executionId))
  const last = page.runs[page.runs.length - 1]
  // No overlap: more runs are new than fit on a page, or all were deleted. The list starts over.
  if (!last || !page.runs.some((run) => known.has(run.executionId)))
    return hold && last ? { ...before, held: page.runs.length } : fresh
  const inPage = new Set(page.runs.map((run) => run.executionId))
  const lastKnown = before.runs.findIndex((run) => run.executionId === last.executionId)
  // Runs missing from the page no longer match the filter; those after the page stay.
  const older =
    page.next === null
      ? []
      : before.runs
          .slice(lastKnown < 0 ? before.runs.length : lastKnown + 1)
          .filter((run) => !inPage.has(run.executionId))
  const firstKnown = page.runs.findIndex((run) => known.has(run.executionId))
  const runs = [...(hold ? page.runs.slice(firstKnown) : page.runs), ...older]
  const end = older.length > 0 ? before : page
  return { runs, next: end.next, searchedUntil: end.searchedUntil, held: hold ? firstKnown : 0 }
}

/** The list with an older page added. */
export function withOlder(before: RunList, page: RunPage): RunList {
  const known = new Set(before.runs.map((run) => run.executionId))
  return {
    ...before,
    runs: [...before.runs, ...page.runs.filter((run) => !known.has(run.executionId))],
    next: page.next,
    searchedUntil: page.searchedUntil,
  }
}
