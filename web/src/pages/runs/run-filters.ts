/** The filters of the list of runs, in the address and as requests. */
import type { Inputs } from '../../api/client'
import { startOfSpan } from '../../parts/time-spans'
import { runFiltersText } from '../../text/runs'

/** The filters as texts in the address; empty: no filter. From and to are chosen in the chart. */
export type RunFilters = { status: string; blueprint: string; time: string; from: string; to: string; search: string }
/** No filters. */
export const noFilters: RunFilters = { status: '', blueprint: '', time: '', from: '', to: '', search: '' }

/** The statuses to filter by. */
export const statuses = [
  { value: '', label: runFiltersText.anyStatus },
  { value: 'running', label: runFiltersText.running },
  { value: 'paused', label: runFiltersText.waitingForInput },
  { value: 'completed', label: runFiltersText.completed },
  { value: 'failed', label: runFiltersText.failed },
]

/** The request for filters. Invalid parts of the address are ignored. */
export function questionFor(
  filters: RunFilters,
  within: { blueprintId?: string; organizationId?: string },
  now: number,
): NonNullable<Inputs['execution']['listRuns']> {
  const question: NonNullable<Inputs['execution']['listRuns']> = {}
  const blueprintId = within.blueprintId ?? filters.blueprint
  if (blueprintId) question.blueprintId = blueprintId
  if (within.organizationId && !within.blueprintId) question.organizationId = within.organizationId
  if (filters.status && statuses.some(({ value }) => value === filters.status))
    question.status = filters.status as 'running'
  const from = startOfSpan(filters.time, now)
  if (isTime(filters.from) && isTime(filters.to)) Object.assign(question, { from: filters.from, to: filters.to })
  else if (from) question.from = from
  if (filters.search.trim()) question.search = filters.search.trim().slice(0, 100)
  return question
}

/** Reports whether there is any filter. */
export function isFiltered(filters: RunFilters): boolean {
  return Object.values(filters).some((value) => value !== '')
}

function isTime(text: string): boolean {
  return text !== '' && Number.isFinite(Date.parse(text))
}
