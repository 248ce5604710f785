import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Outputs } from '../../api/client'
import type { ListedRun } from './run-pages'
import { isOver, type Run } from './types'

/** The log record of a run: its calls and its origin. */
export type LogRecord = Outputs['execution']['getRecord']

/** Facts about a run besides its status record. Each is undefined while unknown, null if it is not available. */
export type RunFacts = {
  listed: ListedRun | null | undefined
  record: LogRecord | null | undefined
  blueprint: Outputs['blueprint']['get'] | null | undefined
  /** The map of the run's version. */
  map: unknown
  /** The first responses are pending. */
  pending: boolean
}

/** Fetches the blueprint and version of a run, and its log record. */
export function useRunFacts(id: string, status: Run['status'] | undefined): RunFacts {
  const over = status !== undefined && isOver(status)
  const listed = useQuery({
    queryKey: ['run', id, 'listed', over],
    queryFn: () => find(id),
    placeholderData: (before) => before,
    enabled: status !== undefined && status !== 'not_found',
  })
  const run = listed.data
  const record = useQuery({
    queryKey: ['run', id, 'record', over, run?.blueprintId],
    queryFn: () => api.execution.getRecord.query({ executionId: id }),
    enabled: Boolean(run),
    placeholderData: (before) => before,
    retry: false,
  })
  const blueprint = useQuery({
    queryKey: ['blueprint', run?.blueprintId, 'of a run'],
    queryFn: () => api.blueprint.get.query({ id: run!.blueprintId }),
    enabled: Boolean(run),
    retry: false,
  })
  const isCurrent = run && blueprint.data?.version === run.blueprintVersion
  const versions = useQuery({
    queryKey: ['blueprint', run?.blueprintId, 'version', run?.blueprintVersion],
    queryFn: async () =>
      (await api.blueprint.versions.query({ id: run!.blueprintId })).find(
        ({ version }) => version === run!.blueprintVersion,
      )?.blueprint_map ?? null,
    enabled: Boolean(run && blueprint.data?.can_manage && !isCurrent),
    retry: false,
    staleTime: Infinity,
  })
  return {
    listed: listed.isError ? null : listed.data,
    record: record.isError || listed.data === null || listed.isError ? null : record.data,
    blueprint: blueprint.isError ? null : blueprint.data,
    pending: listed.isLoading || blueprint.isLoading || versions.isLoading,
    map: isCurrent ? blueprint.data?.blueprint_map : (versions.data ?? undefined),
  }
}

const around = 60_000

// The id of a run contains its creation time, so that the server need not search far.
async function find(id: string): Promise<ListedRun | null> {
  const at = Number(/^exec_(\d+)_/.exec(id)?.[1])
  const near = Number.isFinite(at)
    ? { from: new Date(at - around).toISOString(), to: new Date(at + around).toISOString() }
    : {}
  const { runs } = await api.execution.listRuns.query({ search: id, limit: 1, ...near })
  return runs.find((run) => run.executionId === id) ?? null
}

/** The runs started by a run, newest first. */
export function useChildren(id: string, run: Run | null): ListedRun[] {
  const starts =
    run?.steps.some(
      (step) => step.nodeType === 'blueprint' || step.nodeType === 'for-each' || step.nodeType === 'for_each',
    ) ?? false
  const children = useQuery({
    queryKey: ['run', id, 'children', run?.endTime],
    queryFn: async () => {
      const to = run?.endTime ? { to: new Date(Date.parse(run.endTime) + 1000).toISOString() } : {}
      const { runs } = await api.execution.listRuns.query({
        parentExecutionId: id,
        from: run!.startTime!,
        ...to,
        limit: 100,
      })
      return runs
    },
    enabled: starts && Boolean(run?.startTime),
    refetchInterval: run?.endTime ? false : 5000,
    retry: false,
  })
  return children.data ?? []
}

/** The runs that retry or fork a run, newest first; none before it has ended. `more` loads older ones, if there are any. */
export function useRetries(id: string, over: boolean): { runs: ListedRun[]; more: (() => void) | undefined } {
  const retries = useInfiniteQuery({
    queryKey: ['run', id, 'retries'],
    queryFn: ({ pageParam }) =>
      api.execution.listRuns.query({ retryOf: id, limit: 10, ...(pageParam ? { cursor: pageParam } : {}) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    enabled: over,
    retry: false,
  })
  return {
    runs: retries.data?.pages.flatMap((page) => page.runs) ?? [],
    more: retries.hasNextPage && !retries.isFetchingNextPage ? () => void retries.fetchNextPage() : undefined,
  }
}
