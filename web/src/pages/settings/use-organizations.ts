import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { queryClient, sessionKey } from '../../api/query-client'

/** The organizations of the signed-in user, as the server has them now. */
export function useOrganizations() {
  return useQuery({ queryKey: ['organizations'], queryFn: () => api.organization.list.query() })
}

/** Refetches every query that holds organizations: the list, and the session for the header. */
export function refreshOrganizations(): Promise<unknown> {
  return Promise.all([
    queryClient.invalidateQueries({ queryKey: ['organizations'] }),
    queryClient.invalidateQueries({ queryKey: sessionKey }),
  ])
}
