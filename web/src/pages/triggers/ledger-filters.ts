import type { Inputs } from '../../api/client'
import { startOfSpan } from '../../parts/time-spans'
import { ledgerFiltersText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** The filters of a ledger, as texts in the address; empty: no filter. */
export type LedgerFilters = {
  decision: string
  source: string
  status: string
  time: string
  key: string
  page: string
}
/** No filters. */
export const noFilters: LedgerFilters = { decision: '', source: '', status: '', time: '', key: '', page: '1' }
/** Rows of a page. */
export const perPage = 25

/** The values to filter by, as the server names them. */
export const decisions = [
  { value: '', label: ledgerFiltersText.anyDecision },
  { value: 'started', label: commonText.started },
  { value: 'duplicate', label: ledgerFiltersText.duplicate },
  { value: 'skipped', label: ledgerFiltersText.skipped },
  { value: 'refused', label: ledgerFiltersText.refused },
  { value: 'coalesced', label: ledgerFiltersText.coalesced },
]
export const statuses = [
  { value: '', label: ledgerFiltersText.anyRun },
  { value: 'running', label: ledgerFiltersText.runActive },
  { value: 'paused', label: ledgerFiltersText.runWaiting },
  { value: 'completed', label: ledgerFiltersText.runCompleted },
  { value: 'failed', label: ledgerFiltersText.runFailed },
]

const known = (list: { value: string }[], value: string) => value !== '' && list.some((one) => one.value === value)

/** The request for filters; invalid parts of the address are ignored. `now` in milliseconds. */
export function questionFor(
  triggerId: string,
  filters: LedgerFilters,
  sources: readonly string[],
  now: number,
): Inputs['blueprintTriggers']['history'] {
  const page = Math.max(1, Number.parseInt(filters.page, 10) || 1)
  const from = startOfSpan(filters.time, now)
  return {
    triggerId,
    limit: perPage,
    offset: (page - 1) * perPage,
    ...(known(decisions, filters.decision) ? { decision: filters.decision } : {}),
    ...(sources.includes(filters.source) ? { source: filters.source } : {}),
    ...(known(statuses, filters.status) ? { executionStatus: filters.status as 'failed' } : {}),
    ...(from ? { from } : {}),
    ...(filters.key.trim() ? { key: filters.key.trim() } : {}),
  }
}

/** Reports whether there is any filter. */
export function isFiltered({ page: _page, ...filters }: LedgerFilters): boolean {
  return Object.values(filters).some((value) => value !== '')
}

/** An ISO time as the value of a datetime-local field, in this browser's zone. */
export function toField(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return date.toISOString().slice(0, 16)
}

/** The instant of such a field; null for an empty or invalid one. */
export function fromField(text: string): string | null {
  const at = new Date(text)
  return text === '' || Number.isNaN(at.getTime()) ? null : at.toISOString()
}

/** The time of a firing in milliseconds, with which its id (a ULID) begins. */
export function timeOfId(id: string): number {
  let at = 0
  for (const char of id.slice(0, 10).toUpperCase())
    at = at * 32 + Math.max(0, '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(char))
  return at
}
