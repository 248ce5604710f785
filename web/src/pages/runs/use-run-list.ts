import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { api } from '../../api/client'
import { now } from '../../api/clock'
import { useOrganizationFilter } from '../../shell/organization'
import { questionFor, type RunFilters } from './run-filters'
import { type RunList, withFirst, withOlder } from './run-pages'

const first = 25
const most = 100

/**
 * The runs that match the filters. The newest are polled every few seconds; while the user has scrolled down
 * (`isReading`), new ones are only counted (`list.held`) until `showNew`.
 */
export function useRunList(filters: RunFilters, blueprintId: string | undefined, isReading: () => boolean) {
  const organizationId = useOrganizationFilter().id
  const key = JSON.stringify([filters, blueprintId, organizationId])
  const [kept, keep] = useState<{ key: string; list: RunList } | null>(null)
  const list = kept?.key === key ? kept.list : null
  const size = Math.min(most, Math.max(first, list?.runs.length ?? 0))
  const ask = (more: { limit: number; cursor?: string }) =>
    api.execution.listRuns.query({ ...questionFor(filters, { blueprintId, organizationId }, now()), ...more })
  const page = useQuery({
    queryKey: ['runs', 'list', key],
    queryFn: () => ask({ limit: size }),
    refetchInterval: (query) => (query.state.error ? 15_000 : 5000),
    staleTime: 0,
  })
  const take = useEffectEvent((data: NonNullable<typeof page.data>, of: string) => {
    const reading = isReading()
    keep((before) => ({ key: of, list: withFirst(before?.key === of ? before.list : null, data, reading) }))
  })
  useEffect(() => {
    // The list grows by what the server answers, so it cannot be derived from the last answer.
    // eslint-disable-next-line react-hooks/set-state-in-effect
    if (page.data) take(page.data, key)
  }, [page.data, key])
  const older = useMutation({
    mutationFn: (cursor: string) => ask({ limit: first, cursor }),
    onSuccess: (more) => keep((before) => (before?.key === key ? { key, list: withOlder(before.list, more) } : before)),
  })
  return {
    list,
    error: page.error,
    refetch: () => void page.refetch(),
    olderError: older.error,
    isLoadingOlder: older.isPending,
    loadOlder: () => {
      if (list?.next) older.mutate(list.next)
    },
    showNew: () => {
      if (page.data) keep({ key, list: withFirst(list, page.data, false) })
    },
  }
}
