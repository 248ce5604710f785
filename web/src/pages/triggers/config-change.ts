import type { Config } from './types'

const secrets = ['secret', 'signingSecret']

/**
 * What to send so that a stored config becomes another: the keys that differ; null takes a key away, and an empty text a
 * secret, of which null would mean that it stays. Undefined in `after` means absent.
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
