import type { Config } from './types'

const secrets = ['secret', 'signingSecret']

/**
 * The change that turns a stored config into another: the keys that differ; null removes a key, and an empty text a
 * secret, for which null would keep it. Undefined in `after` means absent.
 */
export function changeOf(before: Config, after: Config): Config {
  const change: Config = {}
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[key] ?? undefined, after[key] ?? undefined]
    if (JSON.stringify(was) === JSON.stringify(is)) continue
    change[key] = is === undefined ? (secrets.includes(key) ? '' : null) : is
  }
  return change
}

/** A config without the keys that are not set. */
export function compact(config: Config): Config {
  return Object.fromEntries(
    Object.entries(config).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  )
}
