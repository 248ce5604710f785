import { useMutation } from '@tanstack/react-query'
import { api, type Outputs } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { notifyError } from '../../parts'
import type { Blueprint } from '../../api/use-blueprint'

type List = Outputs['blueprint']['listSummaries']

/** The mutation that adds or removes a favourite. It is shown at once, and reverted if it fails. */
export function useFavorite() {
  return useMutation({
    mutationFn: ({ id, on }: { id: string; on: boolean }) =>
      on ? api.blueprint.favorite.mutate({ id }) : api.blueprint.unfavorite.mutate({ id }),
    onMutate: async ({ id, on }) => {
      await queryClient.cancelQueries({ queryKey: ['blueprints'] }) // an older response must not undo it
      mark(id, on)
    },
    onError: (error, { id, on }) => {
      mark(id, !on)
      notifyError(error)
    },
    // A removed favourite stays in the list until the next visit, so that a mistake can be undone.
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['blueprints'], refetchType: 'none' }),
  })
}

function mark(id: string, on: boolean): void {
  queryClient.setQueriesData<List>(
    { queryKey: ['blueprints', 'list'] },
    (list) => list && { ...list, data: list.data.map((row) => (row.id === id ? { ...row, is_favorited: on } : row)) },
  )
  queryClient.setQueryData<Blueprint>(['blueprint', id], (before) => before && { ...before, is_favorited: on })
}
