import { keepPreviousData, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Inputs } from '../../api/client'
import { notifyError } from '../../parts'

/** A trigger with its details. */
export function useTrigger(id: string) {
  return useQuery({
    queryKey: ['trigger', id],
    queryFn: () => api.blueprintTriggers.getDetails.query({ triggerId: id }),
    enabled: id !== '',
    refetchInterval: 15_000,
  })
}

/** A page of all visible triggers. */
export function useTriggerList(query: NonNullable<Inputs['blueprintTriggers']['listAll']>, enabled: boolean) {
  return useQuery({
    queryKey: ['triggers', 'list', query],
    queryFn: () => api.blueprintTriggers.listAll.query(query),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
    enabled,
  })
}

/** The triggers of one blueprint, `count` of them from `first` on with their details. */
export function useTriggersOf(blueprintId: string, first: number, count: number) {
  const all = useQuery({
    queryKey: ['triggers', 'of', blueprintId],
    queryFn: () => api.blueprintTriggers.list.query({ blueprintId }),
    enabled: blueprintId !== '',
  })
  const shown = (all.data ?? []).slice(first, first + count)
  // They are batched in one request; a trigger that was deleted in the meantime is left out.
  const details = useQueries({
    queries: shown.map(({ id }) => ({
      queryKey: ['trigger', id],
      queryFn: () => api.blueprintTriggers.getDetails.query({ triggerId: id }),
      retry: false,
    })),
  })
  const rows = details.flatMap((one) => (one.data ? [one.data] : []))
  const ready = all.data !== undefined && details.every((one) => !one.isPending)
  const failed = details.find((one) => one.isError)
  return {
    rows: ready ? rows : undefined,
    total: all.data?.length ?? 0,
    error: all.error ?? (rows.length === 0 ? failed?.error : null),
    refetch: () => {
      void all.refetch()
      for (const one of details) void one.refetch()
    },
  }
}

/** Returns a function that refetches all queries about triggers. */
export function useRefresh() {
  const client = useQueryClient()
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['triggers'] }),
      client.invalidateQueries({ queryKey: ['trigger'] }),
    ])
}

/** Activates or pauses a trigger. */
export function useSwitch() {
  const refresh = useRefresh()
  return useMutation({
    mutationFn: (input: { triggerId: string; isActive: boolean }) => api.blueprintTriggers.update.mutate(input),
    onSettled: refresh,
    onError: notifyError,
  })
}
