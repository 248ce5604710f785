import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { useSignedIn } from '../../api/session'
import type { Blueprint } from '../../api/use-blueprint'
import { namesText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/**
 * Returns the names of the users around a blueprint: the signed-in user, the members of its organization and its
 * collaborators; `unknown` for all others.
 */
export function useNames(blueprint: Blueprint, unknown: string = namesText.formerUser): (userId: string) => string {
  const { user, organizations } = useSignedIn()
  const member = organizations.some(({ id, personal }) => id === blueprint.organization_id && !personal)
  const members = useQuery({
    queryKey: ['organization', blueprint.organization_id, 'members'],
    enabled: member,
    queryFn: () => api.organization.members.query({ organizationId: blueprint.organization_id }),
  })
  const collaborators = useQuery({
    queryKey: ['blueprint', blueprint.id, 'collaborators'],
    enabled: blueprint.can_manage,
    queryFn: () => api.collaborator.list.query({ blueprintId: blueprint.id }),
  })
  return (userId) => {
    if (userId === user.id) return commonText.you
    return (
      [...(members.data ?? []), ...(collaborators.data ?? [])].find((one) => one.userId === userId)?.name ||
      (members.isLoading || collaborators.isLoading ? '…' : unknown)
    )
  }
}
