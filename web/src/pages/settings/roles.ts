import { rolesText } from '../../text/settings'
import { commonText } from '../../text/common'

/** The rights of roles in an organization, as the server enforces them. No React here. */

export type Role = 'member' | 'admin' | 'owner'

/** The roles, least powerful first, in words. */
export const roles: { role: Role; title: string; text: string }[] = [
  {
    role: 'member',
    title: commonText.member,
    text: rolesText.viewsChangesAndRunsThe,
  },
  {
    role: 'admin',
    title: commonText.admin,
    text: rolesText.alsoDeletesAnyBlueprintMakes,
  },
  { role: 'owner', title: commonText.owner, text: rolesText.alsoAppointsAdminsAndOwners },
]

/** The word for a role. */
export function roleTitle(role: string): string {
  return roles.find((one) => one.role === role)?.title ?? role
}

/** Reports whether a role may add and remove members, and rename the organization. */
export function manages(own: string): boolean {
  return own === 'admin' || own === 'owner'
}

/** Reports whether a role may change or remove a member with another role. */
export function mayTouch(own: string, other: string): boolean {
  return own === 'owner' || (own === 'admin' && other === 'member')
}

/** Reports whether only one of these members is an owner, who can then not leave or change role. */
export function isLastOwner(members: { userId: string; role: string }[], userId: string): boolean {
  const owners = members.filter(({ role }) => role === 'owner')
  return owners.length === 1 && owners[0]!.userId === userId
}

/** The roles that a role may assign. */
export function givable(own: string): Role[] {
  if (own === 'owner') return ['member', 'admin', 'owner']
  return own === 'admin' ? ['member'] : []
}
