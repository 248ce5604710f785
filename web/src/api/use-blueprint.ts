import { useMutation, useQuery } from '@tanstack/react-query'
import { api, type Inputs, type Outputs } from './client'
import { queryClient } from './query-client'
import { useSignedIn } from './session'

/** A blueprint with the caller's rights to it. */
export type Blueprint = Outputs['blueprint']['get']
/** A row of the blueprint list. */
export type Summary = Outputs['blueprint']['listSummaries']['data'][number]

/** The blueprint, as a query shared by all its pages. */
export function useBlueprint(id: string) {
  return useQuery({ queryKey: ['blueprint', id], queryFn: () => api.blueprint.get.query({ id }) })
}

/** Applies a known change to the cached blueprint and invalidates the lists. */
export function noteChange(id: string, change: Partial<Blueprint>): void {
  queryClient.setQueryData<Blueprint>(['blueprint', id], (before) => before && { ...before, ...change })
  void queryClient.invalidateQueries({ queryKey: ['blueprint', id, 'versions'] })
  void queryClient.invalidateQueries({ queryKey: ['blueprints'] })
}

/** The mutation blueprint.update for one blueprint; its result updates the cache. */
export function useUpdate(id: string) {
  return useMutation({
    mutationFn: (change: Omit<Inputs['blueprint']['update'], 'id'>) => api.blueprint.update.mutate({ id, ...change }),
    onSuccess: (after, change) =>
      noteChange(id, { ...after, ...(change.budget && !after.budget ? { budget: undefined } : {}) }),
  })
}

/** Reports whether the signed-in user is an admin of the organization that owns a blueprint. */
export function useAdministers(organizationId: string): boolean {
  const role = useSignedIn().organizations.find(({ id }) => id === organizationId)?.role
  return role === 'admin' || role === 'owner'
}
