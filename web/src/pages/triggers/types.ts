import type { Inputs, Outputs } from '../../api/client'

/** What starts a run. */
export type TriggerType = Inputs['blueprintTriggers']['create']['triggerType']
/** A trigger with what one wants to know of it. */
export type Trigger = Outputs['blueprintTriggers']['getDetails']
/** A config, as the server has it. */
export type Config = Record<string, unknown>
/** A row of the ledger. */
export type Firing = Outputs['blueprintTriggers']['history']['firings'][number]
/** What the server says of a row. */
export type Explanation = Outputs['blueprintTriggers']['explain']

/** The text of a config key; empty when it is not there or no text. */
export function textOf(config: Config, key: string): string {
  const value = config[key]
  return typeof value === 'string' ? value : ''
}
