/** The filters of the list of runs, in the address and as requests. */
import type { Inputs } from '../../api/client'
import { runFiltersText } from '../../text/runs'

/** The filters as texts in the address; empty: no filter. */
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

/** The times to filter by; from and to are chosen in the chart. */
export const times = [
  { value: '', label: runFiltersText.anyTime },
  { value: '1h', label: runFiltersText.lastHour },
  { value: '24h', label: runFiltersText.last24Hours },
  { value: '7d', label: runFiltersText.last7Days },
  { value: '30d', label: runFiltersText.last30Days },
]

const lengths: Record<string, number> = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
}

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
  const length = lengths[filters.time]
  if (isTime(filters.from) && isTime(filters.to)) Object.assign(question, { from: filters.from, to: filters.to })
  else if (length) question.from = new Date(now - length).toISOString()
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
