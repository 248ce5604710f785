import {
  IconApi,
  IconBell,
  IconBrandSlack,
  IconCalendarClock,
  IconHandClick,
  IconMail,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react'
import { now } from '../../api/clock'
import { scheduleInWords } from './cron-words'
import { exampleOf } from './sample-input'
import { newSecret } from './signature'
import { textOf, type Config, type TriggerType } from './types'
import { eventInWords, presets, upper } from './words'
import { localZone } from './zone'

type Kind = {
  title: string
  /** The source of its firings in the ledger. */
  source: string
  icon: Icon
  /** What it is for, in a sentence. */
  text: string
  /** What a run gets, for the form. */
  gives: string
  /** Where one begins. */
  start: () => Config
  /** The keys that the form shows. */
  keys: string[]
  /** The title of the page that says how it is reached. */
  use: string
  /** What a trigger listens to: `Every weekday at 09:00, Europe/Berlin`. Secrets may be hidden (null) in the config. */
  listensTo: (config: Config) => string
  /** An input such as it gives, to begin with. */
  sample: (config: Config) => Record<string, unknown>
}

/** The trigger types in words, in the order in which they are offered. */
export const kinds: Record<TriggerType, Kind> = {
  scheduled: {
    title: 'Schedule',
    source: 'schedule',
    icon: IconCalendarClock,
    text: 'Runs at times that you choose: every morning, every ten minutes, on the first of the month.',
    gives: 'inputData is {"scheduledAt", "firedAt", "missedCount"}.',
    start: () => ({ cron: '0 9 * * 1-5', timezone: localZone() }),
    keys: ['cron', 'timezone', 'catchUp'],
    use: 'Next runs',
    listensTo: (config) => upper(scheduleInWords(textOf(config, 'cron'), textOf(config, 'timezone'))),
    sample: () => ({ scheduledAt: at(), firedAt: at(), missedCount: 0 }),
  },
  webhook: {
    title: 'Webhook',
    source: 'webhook',
    icon: IconWebhook,
    text: 'Gives you an address. A service such as GitHub or Stripe posts to it whenever something happens there.',
    gives: 'inputData is the JSON body; its headers are at trigger.headers.',
    start: () => ({ secret: newSecret('') }),
    keys: ['secret', 'preset', 'respond'],
    use: 'Send to it',
    listensTo: (config) =>
      `Webhook, ${presets[textOf(config, 'preset')] ?? ('secret' in config ? 'signed with a secret' : 'open to everybody who knows the address')}`,
    sample: () => ({}),
  },
  api: {
    title: 'API call',
    source: 'api',
    icon: IconApi,
    text: 'Your own programs start it with a key and plain JSON. Agents see it as a tool over MCP.',
    gives: 'inputData is the JSON body, checked against your schema.',
    start: () => ({}),
    keys: ['label', 'inputSchema'],
    use: 'Call it',
    listensTo: (config) => textOf(config, 'label') || 'API call',
    sample: (config) => exampleOf(config.inputSchema) as Record<string, unknown>,
  },
  email: {
    title: 'Mail',
    source: 'email',
    icon: IconMail,
    text: 'Gives you a mail address. Every message to it starts a run, with its text and attachments.',
    gives: 'inputData is {"messageId", "from", "to", "subject", "text", "html", "date", "headers", "attachments"}.',
    start: () => ({}),
    keys: ['allowFrom', 'requireAuth', 'attachments'],
    use: 'Write to it',
    listensTo: (config) => (textOf(config, 'address') ? `Mail to ${textOf(config, 'address')}` : 'Mail to its address'),
    sample: () => ({
      messageId: '<1@example.org>',
      from: { address: 'ada@example.org', name: 'Ada' },
      to: [],
      subject: 'Hello',
      text: 'Hello there',
      html: '',
      date: at(),
      headers: {},
      attachments: [],
    }),
  },
  slack: {
    title: 'Slack',
    source: 'slack',
    icon: IconBrandSlack,
    text: 'Listens to the Events API of a Slack app: messages, mentions, reactions.',
    gives: 'inputData is {"eventId", "eventType", "channel", "user", "text", "ts", "threadTs", "teamId", "raw"}.',
    start: () => ({}),
    keys: ['signingSecret', 'eventType', 'channel', 'connectionId'],
    use: 'Connect Slack',
    listensTo: (config) => {
      const channel = textOf(config, 'channel')
      const where = channel && ` in ${/^[A-Z0-9]+$/.test(channel) ? '' : '#'}${channel.replace(/^#/, '')}`
      return `Slack: ${textOf(config, 'eventType') || 'every event'}${where}`
    },
    sample: (config) => ({
      eventId: 'Ev1',
      eventType: config.eventType ?? 'message',
      channel: config.channel ?? 'C0123456789',
      user: 'U0123456789',
      text: 'Hello',
      ts: '1700000000.000100',
      threadTs: null,
      teamId: 'T0123456789',
      raw: {},
    }),
  },
  event: {
    title: 'Event',
    source: 'event',
    icon: IconBell,
    text: 'Reacts to what happens on this server: a run that failed, a blueprint that was published, an event of your own.',
    gives: 'inputData is {"event", "at", "blueprintId", "executionId", "data"}.',
    start: () => ({ event: 'execution.failed' }),
    keys: ['event', 'blueprintId'],
    use: 'Raise it',
    listensTo: (config) => {
      const event = textOf(config, 'event')
      return `When ${eventInWords(event) || `${event} is raised`}${textOf(config, 'blueprintId') && ', of one blueprint'}`
    },
    sample: (config) => ({
      event: config.event ?? '',
      at: at(),
      blueprintId: config.blueprintId ?? null,
      executionId: null,
      data: {},
    }),
  },
  manual: {
    title: 'By hand',
    source: 'manual',
    icon: IconHandClick,
    text: 'A button. Useful to keep a ledger of runs that people start, with a limit of its own.',
    gives: 'inputData is what is given when it is fired.',
    start: () => ({}),
    keys: [],
    use: 'Fire it',
    listensTo: () => 'Started by hand',
    sample: () => ({}),
  },
}

/** All types, in that order. */
export const types = Object.keys(kinds) as TriggerType[]

/** Whether a text names a type. */
export function isType(text: string): text is TriggerType {
  return Object.hasOwn(kinds, text)
}

/** What a trigger listens to, in words. */
export function listensTo(type: TriggerType, config: Config): string {
  return kinds[type].listensTo(config)
}

/** `schedule` of the ledger in a word for people. */
export const sources: Record<string, string> = {
  ...Object.fromEntries(Object.values(kinds).map((kind) => [kind.source, kind.title])),
  redelivery: 'Redelivery',
}

/** The keys of a config that the form of its type does not show. */
export function unshown(type: TriggerType, config: Config): string[] {
  const known = [
    ...kinds[type].keys,
    'concurrency',
    'breaker',
    'record',
    'address',
    'previousSecret',
    'previousSecretUntil',
    'previousSigningSecret',
    'previousSigningSecretUntil',
  ]
  return Object.keys(config).filter((key) => !known.includes(key))
}

function at(): string {
  return new Date(now()).toISOString()
}
