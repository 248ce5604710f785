import type { Inputs, Outputs } from '../../api/client'

/** What a key may do. */
export type Scope = Outputs['apiKey']['list'][number]['scopes'][number]

/** The choices of a new key; without scopes it may do everything. */
export const accesses: { value: string; label: string; text: string; scopes?: Scope[] }[] = [
  { value: 'all', label: 'Full access', text: 'Everything you can do, including members, keys and the audit log.' },
  {
    value: 'read',
    label: 'Read',
    text: 'View blueprints, runs, triggers and connections, without secrets.',
    scopes: ['read'],
  },
  {
    value: 'run',
    label: 'Read and run',
    text: 'View; start, answer, cancel and retry runs; fire triggers; call MCP tools.',
    scopes: ['run'],
  },
  {
    value: 'write',
    label: 'Read and write',
    text: 'View; change blueprints, triggers, connections, categories, ratings and grants.',
    scopes: ['write'],
  },
  {
    value: 'run write',
    label: 'Read, run and write',
    text: 'Everything except organizations, members, collaborators, keys and the audit log.',
    scopes: ['run', 'write'],
  },
]

/** Scopes in words, as in the list of choices. */
export function showScopes(scopes: readonly Scope[]): string {
  const has = (scope: Scope) => scopes.includes(scope)
  if (has('admin')) return 'Full access'
  const wanted = [has('run') && 'run', has('write') && 'write'].filter(Boolean).join(' ') || 'read'
  return accesses.find(({ value }) => value === wanted)!.label
}

/** When a new key ends: days from now, or a chosen time. */
export const expiries = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'at', label: 'Custom time' },
]

const day = 86_400_000

/**
 * The input of apiKey.create. `expiry` is one of expiries, `at` the chosen time as a datetime-local control holds it;
 * undefined when that is no time to come.
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
