import { isObject, same } from '../../forms/values'

/** What an update sends of a config. No React here. */

type Config = Record<string, unknown>

/**
 * The keys of a config that differ, as connection.update wants them: null takes a key away, and "" a secret, for null
 * there keeps it. undefined when nothing differs. before is as the server shows it: a secret that it keeps is null.
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

/** The config without what stands for nothing: keys without a value, and texts that were emptied. */
export function given(config: Config): Config {
  return Object.fromEntries(
    Object.entries(config).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  )
}

/** The keys of a schema that hold secrets: those on top. */
export function secretsOf(schema: Config): string[] {
  const properties = isObject(schema.properties) ? schema.properties : {}
  return Object.entries(properties)
    .filter(([, value]) => isObject(value) && (value['x-kind'] === 'secret' || value.writeOnly === true))
    .map(([key]) => key)
}

/** The config that a new connection begins with: the defaults of its schema. */
export function beginning(schema: Config): Config {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const config: Config = {}
  for (const [key, value] of Object.entries(properties))
    if (isObject(value) && Object.hasOwn(value, 'default')) config[key] = value.default
  return config
}

/** Keys that mean nothing beside the others, so that the form leaves them out. */
export function needless(type: string, config: Config): string[] {
  return type === 'oauth2' && config.flow === 'client_credentials' ? ['authorizationUrl'] : []
}
