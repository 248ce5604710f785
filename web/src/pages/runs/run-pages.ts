/** The list of runs on the screen: its first page is looked up again and again, older pages are added below. */
import type { Outputs } from '../../api/client'

/** A page as the server answers it. */
export type RunPage = Outputs['execution']['listRuns']
/** One run in the list. */
export type ListedRun = RunPage['runs'][number]

/** What is on the screen. */
export type RunList = {
  runs: ListedRun[]
  /** Where older ones begin; `null`: there are none. */
  next: string | null
  /** How far back the server has looked, where the page is not full for that reason. */
  searchedUntil: string | null
  /** Newer runs that are held back so that nothing jumps under the reader's eyes. */
  held: number
}

/** The list after its first page was fetched (again). With `hold`, because the user reads further down, new runs are held back. */
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
  // What the page should hold and does not has left the filter; what lies behind the page stays.
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

/** The list with an older page below. */
export function withOlder(before: RunList, page: RunPage): RunList {
  const known = new Set(before.runs.map((run) => run.executionId))
  return {
    ...before,
    runs: [...before.runs, ...page.runs.filter((run) => !known.has(run.executionId))],
    next: page.next,
    searchedUntil: page.searchedUntil,
  }
}
