import { rolesText } from '../../text/settings'
import { commonText } from '../../text/common'

/** What people may do in an organization, as the server decides it. No React here. */

export type Role = 'member' | 'admin' | 'owner'

/** The roles, the least first, in words. */
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

/** Whether somebody with a role adds and removes members, and renames the organization. */
export function manages(own: string): boolean {
  return own === 'admin' || own === 'owner'
}

/** Whether somebody with a role may change or remove one with another. */
export function mayTouch(own: string, other: string): boolean {
  return own === 'owner' || (own === 'admin' && other === 'member')
}

/** Whether of these members one alone is an owner, and so cannot leave or become less. */
export function isLastOwner(members: { userId: string; role: string }[], userId: string): boolean {
  const owners = members.filter(({ role }) => role === 'owner')
  return owners.length === 1 && owners[0]!.userId === userId
}

/** The roles that somebody with a role may give. */
export function givable(own: string): Role[] {
  if (own === 'owner') return ['member', 'admin', 'owner']
  return own === 'admin' ? ['member'] : []
}
