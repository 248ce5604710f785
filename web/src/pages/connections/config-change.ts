import { isObject, same } from '../../forms/values'

/** The part of a config that an update sends. No React here. */

type Config = Record<string, unknown>

/**
 * The changed keys of a config for connection.update: null removes a key, and "" a secret, for which null keeps it.
 * undefined without changes. before is as returned by the server: a stored secret is null.
 */
export function changeOf(before: Config, after: Config, secrets: readonly string[]): Config | undefined {
  const change: Config = {}
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[key], after[key]]
    if (same(was, is)) continue
    if (is !== undefined) change[key] = is
    else if (Object.hasOwn(before, key)) change[key] = secrets.includes(key) ? '' : null
  }
  return Object.keys(change).length === 0 ? undefined : change
}

/** The config without keys that have no value or an empty text. */
export function given(config: Config): Config {
  return Object.fromEntries(
    Object.entries(config).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  )
}

/** The top-level keys of a schema that hold secrets. */
export function secretsOf(schema: Config): string[] {
  const properties = isObject(schema.properties) ? schema.properties : {}
  return Object.entries(properties)
    .filter(([, value]) => isObject(value) && (value['x-kind'] === 'secret' || value.writeOnly === true))
    .map(([key]) => key)
}

/** The initial config of a new connection: the defaults of its schema. */
export function beginning(schema: Config): Config {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const config: Config = {}
  for (const [key, value] of Object.entries(properties))
    if (isObject(value) && Object.hasOwn(value, 'default')) config[key] = value.default
  return config
}

/** Keys that have no effect beside the others, so that the form hides them. */
export function needless(type: string, config: Config): string[] {
  return type === 'oauth2' && config.flow === 'client_credentials' ? ['authorizationUrl'] : []
}
