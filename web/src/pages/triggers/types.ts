import type { Inputs, Outputs } from '../../api/client'

/** A trigger type. */
export type TriggerType = Inputs['blueprintTriggers']['create']['triggerType']
/** A trigger with its details. */
export type Trigger = Outputs['blueprintTriggers']['getDetails']
/** A config from the server. */
export type Config = Record<string, unknown>
/** A row of the ledger. */
export type Firing = Outputs['blueprintTriggers']['history']['firings'][number]
/** The server's explanation of a row. */
export type Explanation = Outputs['blueprintTriggers']['explain']

/** The text of a config key; empty if it is missing or not a text. */
export function textOf(config: Config, key: string): string {
  const value = config[key]
  return typeof value === 'string' ? value : ''
}
