import type { Session } from '../../api/session'
import type { Connection } from './types'
import { ownerText } from '../../text/connections'

/** The owner of a connection, in words. */
export function ownerOf(connection: Connection, { organizations }: Session): string {
  if (connection.organizationId === null) return ownerText.onlyYou
  return organizations.find((one) => one.id === connection.organizationId)?.name ?? ownerText.anOrganization
}

/** Reports whether the signed-in user may change a connection, not only use it. */
export function mayChange(connection: Connection, { user, organizations }: Session): boolean {
  if (connection.createdBy === user.id) return true
  const role = organizations.find((one) => one.id === connection.organizationId)?.role
  return role === 'admin' || role === 'owner'
}
