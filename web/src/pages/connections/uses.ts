import { usesText } from '../../text/connections'

/** Where a connection is used, found by its id. No React here. */

/** An object that refers to a connection. */
export type User = { kind: 'blueprint' | 'trigger' | 'connection'; id: string; title: string }

type Things = {
  blueprints: { id: string; title: string; blueprint_map: unknown; environment_variables: unknown }[]
  triggers: { id: string; blueprint_title: string; config: unknown }[]
  connections: { id: string; name: string; config: unknown }[]
}

const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** The users of each connection that is referred to. */
export function usersOf({ blueprints, triggers, connections }: Things): Map<string, User[]> {
  const known = new Set(connections.map((one) => one.id))
  const users = new Map<string, User[]>()
  const note = (value: unknown, user: User) => {
    const text = JSON.stringify(value) ?? ''
    for (const found of new Set(text.match(id) ?? [])) {
      if (known.has(found) && found !== user.id) users.set(found, [...(users.get(found) ?? []), user])
    }
  }
  for (const one of blueprints)
    note([one.blueprint_map, one.environment_variables], { kind: 'blueprint', id: one.id, title: one.title })
  for (const one of triggers)
    note(one.config, { kind: 'trigger', id: one.id, title: usesText.triggerOf(one.blueprint_title) })
  for (const one of connections) note(one.config, { kind: 'connection', id: one.id, title: one.name })
  return users
}

/** The page of such a user. */
export function hrefOf({ kind, id: of }: User): string {
  return `/${kind}s/${of}`
}
