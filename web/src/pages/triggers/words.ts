/** The signatures of the presets, in words. */
export const presets: Record<string, string> = {
  github: 'GitHub signature',
  stripe: 'Stripe signature',
  slack: 'Slack signature',
  standard: 'Standard Webhooks signature',
}

const events: Record<string, string> = {
  'execution.completed': 'a run completed',
  'execution.failed': 'a run failed',
  'execution.paused': 'a run waits for an answer',
  'blueprint.created': 'a blueprint was created',
  'blueprint.updated': 'a blueprint was changed',
  'blueprint.published': 'a blueprint was published',
  'trigger.missed': 'a schedule missed its time',
}

/** What an event means: `a run failed`; empty for those of blueprints. */
export function eventInWords(event: string): string {
  return events[event] ?? ''
}

/** By what one tells addresses apart that differ in an id alone: its last four letters. Empty where there is none. */
export function addressEnd(address: string | null): string {
  return /[\da-f]{4}$/.exec(address ?? '')?.[0] ?? ''
}

/** A text that begins with a capital. */
export function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
