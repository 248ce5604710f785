/** What a line of the audit log says, in words. No React here. */

/** What the words need of an entry. */
export type Entry = { action: string; targetType: string; targetId: string; detail: Record<string, unknown> }

// What was done to a thing that the line may name, and else the whole phrase.
const words: Record<string, string | [verb: string, kind: string]> = {
  'apiKey.create': ['made', 'API key'],
  'apiKey.revoke': ['revoked', 'API key'],
  'key.create': ['made', 'API key'],
  'key.revoke': ['revoked', 'API key'],
  'blueprint.create': ['made', 'blueprint'],
  'blueprint.update': ['changed', 'blueprint'],
  'blueprint.delete': ['deleted', 'blueprint'],
  'blueprint.rate': 'rated a blueprint',
  'blueprint.favorite': 'made a blueprint a favorite',
  'blueprint.unfavorite': 'took a blueprint off the favorites',
  'blueprint.setCategories': 'sorted a blueprint into categories',
  'blueprint.execute': 'ran a blueprint',
  'blueprint.validate': 'checked a blueprint',
  'execution.executeBlueprintWithLogging': 'ran a blueprint',
  'execution.cancel': 'cancelled a run',
  'execution.resume': 'answered a paused run',
  'execution.retry': 'ran a run again',
  'blueprintTriggers.create': 'made a trigger',
  'blueprintTriggers.update': 'changed a trigger',
  'blueprintTriggers.delete': 'deleted a trigger',
  'blueprintTriggers.fire': 'fired a trigger',
  'blueprintTriggers.redeliver': 'redelivered to a trigger',
  'blueprintTriggers.rotateSecret': 'changed the secret of a trigger',
  'category.create': ['made', 'category'],
  'category.delete': ['deleted', 'category'],
  'collaborator.remove': 'removed a collaborator',
  'connection.create': ['made', 'connection'],
  'connection.update': ['changed', 'connection'],
  'connection.delete': ['deleted', 'connection'],
  'connection.test': 'tested a connection',
  'connection.signIn': 'asked for a sign-in to a connection',
  'connection.signedIn': 'signed in to a connection',
  'organization.create': ['made', 'organization'],
  'organization.update': ['renamed', 'organization'],
  'organization.removeMember': 'removed a member',
  'user.add': 'was added as a user',
  'user.link': 'was given a link to set a password',
  'sandbox.rules': 'changed the rules of the sandbox',
  'sandbox.expectations': 'changed what the sandbox expects',
  'sandbox.clear': 'cleared the sandbox',
  'sandbox.send': 'had the sandbox send a webhook',
  'clock.advance': 'moved the clock',
  'session.create': 'signed in',
  'session.setup': 'set a password by link',
  'session.delete': 'signed out',
  'session.revoke': 'ended a session',
  'session.changePassword': 'changed the password',
}

/** `changed the blueprint "Hello"`: what was done; the procedure's own name when we have no words for it. */
export function actionWords({ action, detail }: Entry): string {
  const name = nameOf(detail)
  if (action === 'session.create' && detail.outcome === 'failed') return 'failed to sign in'
  if (action === 'session.changePassword' && detail.outcome === 'failed')
    return 'gave a wrong password where it is changed'
  if (action === 'session.delete' && detail.everywhere === true) return 'signed out everywhere'
  if (action === 'user.update') return name === undefined ? 'changed their name' : `changed their name to "${name}"`
  if (action === 'organization.addMember' || action === 'collaborator.add')
    return member(detail, action === 'collaborator.add')
  if (action === 'organization.removeMember' && typeof detail.userName === 'string') return `removed ${detail.userName}`
  const found = words[action]
  if (!Array.isArray(found)) return found ?? action
  const [verb, kind] = found
  return name === undefined
    ? `${verb} ${/^[AEIOaeio]/.test(kind) ? 'an' : 'a'} ${kind}`
    : `${verb} the ${kind} "${name}"`
}

function member(detail: Record<string, unknown>, collaborator: boolean): string {
  const who =
    typeof detail.userName === 'string' && detail.userName !== ''
      ? detail.userName
      : collaborator
        ? 'a collaborator'
        : 'a member'
  const role = typeof detail.role === 'string' ? detail.role : undefined
  if (!role) return `gave ${who} a role`
  if (typeof detail.roleBefore === 'string') return `made ${who} ${role}, who was ${detail.roleBefore}`
  return collaborator ? `added ${who} as collaborator (${role})` : `added ${who} as ${role}`
}

function nameOf(detail: Record<string, unknown>): string | undefined {
  for (const key of ['title', 'name']) {
    const value = detail[key]
    if (typeof value === 'string' && value !== '') return value.length > 80 ? `${value.slice(0, 80)}...` : value
  }
  return undefined
}

/** Where the target of an entry can be looked at; undefined when it is gone or has no page. */
export function targetHref({ action, targetType, targetId, detail }: Entry): string | undefined {
  if (!/^[\w-]+$/.test(targetId)) return undefined
  const gone = action.endsWith('.delete')
  switch (targetType) {
    case 'blueprint':
      return gone ? undefined : `/blueprints/${targetId}`
    case 'trigger':
      return gone ? undefined : `/triggers/${targetId}`
    case 'connection':
      return gone ? undefined : `/connections/${targetId}`
    case 'execution':
      return `/runs/${targetId}`
    case 'firing':
      return typeof detail.executionId === 'string' ? `/runs/${detail.executionId}` : undefined
    case 'organization':
      return `/settings/organizations/${targetId}`
    case 'apiKey':
    case 'key':
      return '/settings/keys'
    case 'session':
      return '/settings/profile'
  }
  return undefined
}

/** The word for the kind of a target. */
export function targetWord(targetType: string): string {
  const known: Record<string, string> = { execution: 'run', apiKey: 'API key', key: 'API key', '': 'nothing' }
  return known[targetType] ?? targetType
}

/** The way by which something was done, in words. */
export function viaWord(via: string): string {
  const known: Record<string, string> = { api: 'API', dashboard: 'Dashboard', cli: 'Command line' }
  return known[via] ?? via
}

/** What `action` is about, for the filter: `blueprint.update` is of the area Blueprints. */
export function areaOf(action: string): string {
  const areas: Record<string, string> = {
    blueprint: 'Blueprints',
    collaborator: 'Blueprints',
    category: 'Blueprints',
    execution: 'Runs',
    blueprintTriggers: 'Triggers',
    connection: 'Connections',
    organization: 'Organizations',
    user: 'Account',
    session: 'Account',
    apiKey: 'Account',
    key: 'Account',
  }
  if (action === 'blueprint.execute') return 'Runs'
  return areas[action.split('.')[0]!] ?? 'Other'
}

/** The areas of the filter, in order. */
export const areas = ['Blueprints', 'Runs', 'Triggers', 'Connections', 'Organizations', 'Account', 'Other']
