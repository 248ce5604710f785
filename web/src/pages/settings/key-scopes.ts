import type { Inputs, Outputs } from '../../api/client'
import { keyScopesText } from '../../text/settings'
import { commonText } from '../../text/common'

/** A scope of a key. */
export type Scope = Outputs['apiKey']['list'][number]['scopes'][number]

/** The choices for a new key; without scopes it may do everything. */
export const accesses: { value: string; label: string; text: string; scopes?: Scope[] }[] = [
  { value: 'all', label: keyScopesText.fullAccess, text: keyScopesText.everythingYouCanDoIncluding },
  {
    value: 'read',
    label: keyScopesText.read,
    text: keyScopesText.viewBlueprintsRunsTriggersAnd,
    scopes: ['read'],
  },
  {
    value: 'run',
    label: keyScopesText.readAndRun,
    text: keyScopesText.viewStartAnswerCancelAndRetry,
    scopes: ['run'],
  },
  {
    value: 'write',
    label: keyScopesText.readAndWrite,
    text: keyScopesText.viewChangeBlueprintsTriggers,
    scopes: ['write'],
  },
  {
    value: 'run write',
    label: keyScopesText.readRunAndWrite,
    text: keyScopesText.everythingExceptOrganizations,
    scopes: ['run', 'write'],
  },
]

/** Scopes in words, as in the choices. */
export function showScopes(scopes: readonly Scope[]): string {
  const has = (scope: Scope) => scopes.includes(scope)
  if (has('admin')) return keyScopesText.fullAccess
  const wanted = [has('run') && 'run', has('write') && 'write'].filter(Boolean).join(' ') || 'read'
  return accesses.find(({ value }) => value === wanted)!.label
}

/** The expiry of a new key: in a number of days, or at a chosen time. */
export const expiries = [
  { value: '', label: commonText.never },
  { value: '7', label: keyScopesText.in7Days },
  { value: '30', label: keyScopesText.in30Days },
  { value: '90', label: keyScopesText.in90Days },
  { value: '365', label: keyScopesText.in1Year },
  { value: 'at', label: keyScopesText.customTime },
]

const day = 86_400_000

/**
 * The input of apiKey.create. `expiry` is one of expiries, `at` the chosen time as the value of a datetime-local
 * control; undefined if that is not in the future.
 */
export function keyInput(
  name: string,
  access: string,
  expiry: string,
  at: string,
  now: number,
): Inputs['apiKey']['create'] | undefined {
  const ends = expiry === '' ? undefined : expiry === 'at' ? new Date(at).getTime() : now + Number(expiry) * day
  if (ends !== undefined && !(ends > now)) return undefined
  const scopes = accesses.find(({ value }) => value === access)?.scopes
  return {
    name: name.trim(),
    ...(scopes ? { scopes } : {}),
    ...(ends === undefined ? {} : { expiresAt: new Date(ends).toISOString() }),
  }
}
