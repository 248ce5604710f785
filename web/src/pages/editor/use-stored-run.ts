import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import type { RunChoice } from '../../inspector/types'

const most = 20

/**
 * The newest visible run of a blueprint, or another one that is chosen; `run` is undefined if there is none. `ended` is
 * the run that was started here last, once it has ended: the list is then fetched again.
 */
export function useStoredRun(blueprintId: string, ended: string | undefined) {
  const [chosen, setChosen] = useState<string>()
  const list = useQuery({
    queryKey: ['runs', blueprintId, 'to choose', ended],
    queryFn: async () => (await api.execution.listRuns.query({ blueprintId, limit: most })).runs,
    placeholderData: (before) => before,
  })
  const id = chosen ?? list.data?.[0]?.executionId
  const found = useQuery({
    queryKey: ['runs', blueprintId, 'data', id],
    queryFn: () => api.execution.getExecutionStatus.query({ executionId: id! }),
    enabled: id !== undefined,
  })
  const runs: RunChoice = {
    list: (list.data ?? []).map((run) => ({ id: run.executionId, status: run.status, at: run.createdAt })),
    chosen,
    onChoose: (wanted) => setChosen(wanted === list.data?.[0]?.executionId ? undefined : wanted),
  }
  return { run: found.data, loading: list.isPending || (id !== undefined && found.isPending), runs, chosen }
}
