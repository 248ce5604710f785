import { auditWordsText } from '../../text/settings'
import { commonText } from '../../text/common'

/** Descriptions of audit log entries. No React here. */

/** The part of an entry that the descriptions need. */
export type Entry = { action: string; targetType: string; targetId: string; detail: Record<string, unknown> }

/** The action of an answer with an approval link. Who used the link is not known. */
export const byLink = 'execution.answerByLink'

// The verb and the kind of target, or a whole phrase for actions without a target.
const words = new Map(
  Object.entries<string | [verb: string, kind: string]>({
    'apiKey.create': [auditWordsText.created, auditWordsText.apiKey],
    'apiKey.revoke': [auditWordsText.revoked, auditWordsText.apiKey],
    'key.create': [auditWordsText.created, auditWordsText.apiKey],
    'key.revoke': [auditWordsText.revoked, auditWordsText.apiKey],
    'blueprint.create': [auditWordsText.created, auditWordsText.blueprint],
    'blueprint.update': [auditWordsText.changed, auditWordsText.blueprint],
    'draft.apply': [auditWordsText.applied, auditWordsText.draft],
    'blueprint.delete': [auditWordsText.deleted, auditWordsText.blueprint],
    'blueprint.rate': auditWordsText.ratedABlueprint,
    'blueprint.favorite': auditWordsText.addedABlueprintToFavourites,
    'blueprint.unfavorite': auditWordsText.removedABlueprintFrom,
    'blueprint.setCategories': auditWordsText.setTheCategoriesOfABlueprint,
    'blueprint.execute': auditWordsText.ranABlueprint,
    'blueprint.validate': auditWordsText.validatedABlueprint,
    'execution.executeBlueprintWithLogging': auditWordsText.ranABlueprint,
    'execution.cancel': auditWordsText.cancelledARun,
    'execution.resume': auditWordsText.answeredARun,
    [byLink]: auditWordsText.answeredARun,
    'execution.link': auditWordsText.madeAnApprovalLink,
    'execution.retry': auditWordsText.retriedARun,
    'blueprintTriggers.create': auditWordsText.createdATrigger,
    'blueprintTriggers.update': auditWordsText.changedATrigger,
    'blueprintTriggers.delete': auditWordsText.deletedATrigger,
    'blueprintTriggers.fire': auditWordsText.firedATrigger,
    'blueprintTriggers.redeliver': auditWordsText.redeliveredToATrigger,
    'blueprintTriggers.rotateSecret': auditWordsText.rotatedTheSecretOfATrigger,
    'category.create': [auditWordsText.created, auditWordsText.category],
    'category.delete': [auditWordsText.deleted, auditWordsText.category],
    'collaborator.remove': auditWordsText.removedACollaborator,
    'connection.create': [auditWordsText.created, auditWordsText.connection],
    'connection.update': [auditWordsText.changed, auditWordsText.connection],
    'connection.delete': [auditWordsText.deleted, auditWordsText.connection],
    'connection.test': auditWordsText.testedAConnection,
    'connection.signIn': auditWordsText.startedASignInToA,
    'connection.signedIn': auditWordsText.signedInToAConnection,
    'organization.create': [auditWordsText.created, auditWordsText.organization],
    'organization.update': [auditWordsText.renamed, auditWordsText.organization],
    'organization.removeMember': auditWordsText.removedAMember,
    'user.add': auditWordsText.wasAddedAsAUser,
    'user.link': auditWordsText.receivedAPasswordLink,
    'sandbox.rules': auditWordsText.changedTheSandboxRules,
    'sandbox.expectations': auditWordsText.changedTheSandboxExpectations,
    'sandbox.clear': auditWordsText.clearedTheSandbox,
    'sandbox.send': auditWordsText.sentAWebhookFromTheSandbox,
    'clock.advance': auditWordsText.advancedTheClock,
    'session.create': auditWordsText.signedIn,
    'session.setup': auditWordsText.setAPasswordWithALink,
    'session.delete': auditWordsText.signedOut,
    'session.revoke': auditWordsText.endedASession,
    'session.changePassword': auditWordsText.changedThePassword,
  }),
)

/** `changed the blueprint "Hello"`: the description of an action; the procedure's name for unknown ones. */
export function actionWords({ action, detail }: Entry): string {
  const name = nameOf(detail)
  if (action === 'session.create' && detail.outcome === 'failed') return auditWordsText.failedToSignIn
  if (action === 'session.changePassword' && detail.outcome === 'failed')
    return auditWordsText.enteredAWrongCurrentPassword
  if (action === 'session.delete' && detail.everywhere === true) return auditWordsText.signedOutEverywhere
  if (action === 'user.update')
    return name === undefined ? auditWordsText.changedTheirName : auditWordsText.changedTheirNameTo(name)
  if (action === 'organization.addMember' || action === 'collaborator.add')
    return member(detail, action === 'collaborator.add')
  if (action === 'organization.removeMember' && typeof detail.userName === 'string')
    return auditWordsText.removed(detail.userName)
  const found = words.get(action)
  if (!Array.isArray(found)) return found ?? action
  const [verb, kind] = found
  return name === undefined ? auditWordsText.a(verb, kind) : auditWordsText.the(verb, kind, name)
}

function member(detail: Record<string, unknown>, collaborator: boolean): string {
  const who =
    typeof detail.userName === 'string' && detail.userName !== ''
      ? detail.userName
      : collaborator
        ? auditWordsText.aCollaborator
        : auditWordsText.aMember
  const role = typeof detail.role === 'string' ? detail.role : undefined
  if (!role) return auditWordsText.changedTheRoleOf(who)
  if (typeof detail.roleBefore === 'string') return auditWordsText.changedTheRoleOfFromTo(who, detail.roleBefore, role)
  return collaborator ? auditWordsText.addedAsACollaborator(who, role) : auditWordsText.addedAs(who, role)
}

function nameOf(detail: Record<string, unknown>): string | undefined {
  for (const key of ['title', 'name']) {
    const value = detail[key]
    if (typeof value === 'string' && value !== '') return value.length > 80 ? `${value.slice(0, 80)}...` : value
  }
  return undefined
}

/** The page of an entry's target; undefined if it was deleted or has no page. */
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

/** A short name of an entry's target. `names` holds those of organizations, by ID. */
export function targetName({ targetType, targetId, detail }: Entry, names: ReadonlyMap<string, string>): string {
  if (targetType === '') return '–'
  const name = nameOf(detail) ?? (targetType === 'organization' ? names.get(targetId) : undefined)
  if (name !== undefined) return name
  const known: Record<string, string> = {
    execution: auditWordsText.run,
    apiKey: auditWordsText.apiKey,
    key: auditWordsText.apiKey,
  }
  // IDs begin with their time, so their ends differ.
  const id = targetId.length > 12 ? `…${targetId.slice(-8)}` : targetId
  return `${known[targetType] ?? targetType} ${id}`.trimEnd()
}

/** The channel of an action, in words. */
export function viaWord(via: string): string {
  const known: Record<string, string> = {
    api: auditWordsText.api,
    dashboard: auditWordsText.dashboard,
    cli: auditWordsText.commandLine,
    link: auditWordsText.approvalLink,
  }
  return known[via] ?? via
}

/** The area of an action, for the filter: `blueprint.update` belongs to Blueprints. */
export function areaOf(action: string): string {
  const areas: Record<string, string> = {
    blueprint: commonText.blueprints,
    collaborator: commonText.blueprints,
    category: commonText.blueprints,
    execution: commonText.runs,
    blueprintTriggers: commonText.triggers,
    connection: commonText.connections,
    organization: auditWordsText.organizations,
    user: auditWordsText.account,
    session: auditWordsText.account,
    apiKey: auditWordsText.account,
    key: auditWordsText.account,
  }
  if (action === 'blueprint.execute') return commonText.runs
  return areas[action.split('.')[0]!] ?? auditWordsText.other
}

/** The areas of the filter, in order. */
export const areas = [
  commonText.blueprints,
  commonText.runs,
  commonText.triggers,
  commonText.connections,
  auditWordsText.organizations,
  auditWordsText.account,
  auditWordsText.other,
]
