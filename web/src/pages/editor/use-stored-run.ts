import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'

/** The newest visible run of a blueprint; `run` is undefined if there is none. */
export function useStoredRun(blueprintId: string) {
  const found = useQuery({
    queryKey: ['runs', blueprintId, 'last'],
    queryFn: async () => {
      const { logs } = await api.execution.getExecutionLogs.query({ blueprintId, limit: 1 })
      const id = logs[0]?.executionData.executionId
      return id === undefined ? null : api.execution.getExecutionStatus.query({ executionId: id })
    },
  })
  return { run: found.data ?? undefined, loading: found.isPending }
}
