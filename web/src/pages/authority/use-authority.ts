import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Inputs, type Outputs } from '../../api/client'

/** Under whose authority the current version of a blueprint runs. */
export type Authority = Outputs['blueprint']['getAuthority']
/** Who wrote a version. */
export type Author = Authority['author']

/** The authority of a blueprint; without an id nothing is asked. */
export function useAuthority(blueprintId: string | undefined) {
  return useQuery({ queryKey: ['authority', blueprintId], queryFn: () => api.blueprint.getAuthority.query({ id: blueprintId! }), enabled: blueprintId !== undefined, retry: false })
}

/** Grants a version to oneself; all that depends on grants is read again. */
export function useGrant() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Inputs['blueprint']['grant']) => api.blueprint.grant.mutate(input),
    onSuccess: () => Promise.all([client.invalidateQueries({ queryKey: ['authority'] }), client.invalidateQueries({ queryKey: ['grants'] })]),
  })
}
