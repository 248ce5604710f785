import { scheduleInWords } from './cron-words'
import { textOf, type Config, type TriggerType } from './types'

const presets: Record<string, string> = {
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

/** What a trigger listens to: `Every weekday at 09:00, Europe/Berlin`. Secrets may be hidden (null) in the config. */
export function listensTo(type: TriggerType, config: Config): string {
  const text = (key: string) => textOf(config, key)
  switch (type) {
    case 'scheduled':
      return upper(scheduleInWords(text('cron'), text('timezone')))
    case 'webhook':
      return `Webhook, ${presets[text('preset')] ?? ('secret' in config ? 'signed with a secret' : 'open to everybody who knows the address')}`
    case 'email':
      return text('address') ? `Mail to ${text('address')}` : 'Mail to its address'
    case 'slack':
      return `Slack: ${text('eventType') || 'every event'}${text('channel') && ` in ${/^[A-Z0-9]+$/.test(text('channel')) ? '' : '#'}${text('channel').replace(/^#/, '')}`}`
    case 'event':
      return `When ${eventInWords(text('event')) || `${text('event')} is raised`}${text('blueprintId') && ', of one blueprint'}`
    case 'api':
      return text('label') || 'API call'
    case 'manual':
      return 'Started by hand'
  }
}

/** By what one tells addresses apart that differ in an id alone: its last four letters. Empty where there is none. */
export function addressEnd(address: string | null): string {
  return /[\da-f]{4}$/.exec(address ?? '')?.[0] ?? ''
}

/** `schedule` of the ledger in a word for people. */
export const sources: Record<string, string> = {
  schedule: 'Schedule',
  webhook: 'Webhook',
  api: 'API call',
  manual: 'By hand',
  email: 'Mail',
  slack: 'Slack',
  event: 'Event',
  redelivery: 'Redelivery',
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
