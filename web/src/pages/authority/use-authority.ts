import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Inputs, type Outputs } from '../../api/client'

/** The users that the triggers of a blueprint act for, and their grants for its current version. */
export type Authority = Outputs['blueprint']['getAuthority']
/** The author of a version. */
export type Author = Authority['author']

/** The authority of a blueprint; without an id there is no request. */
export function useAuthority(blueprintId: string | undefined) {
  return useQuery({
    queryKey: ['authority', blueprintId],
    queryFn: () => api.blueprint.getAuthority.query({ id: blueprintId! }),
    enabled: blueprintId !== undefined,
    retry: false,
  })
}

/** Grants a version for the signed-in user, then reloads everything that depends on grants. */
export function useGrant() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Inputs['blueprint']['grant']) => api.blueprint.grant.mutate(input),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['authority'] }),
        client.invalidateQueries({ queryKey: ['grants'] }),
      ]),
  })
}
