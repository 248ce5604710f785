import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { queryClient, sessionKey } from '../../api/query-client'

/** The organizations of the signed-in user, as the server has them now. */
export function useOrganizations() {
  return useQuery({ queryKey: ['organizations'], queryFn: () => api.organization.list.query() })
}

/** Asks anew for all that tells which organizations there are: this list, and the session that the header shows. */
export function refreshOrganizations(): Promise<unknown> {
  return Promise.all([
    queryClient.invalidateQueries({ queryKey: ['organizations'] }),
    queryClient.invalidateQueries({ queryKey: sessionKey }),
  ])
}
