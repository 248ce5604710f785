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
import type { Config, TriggerType } from './types'
import { newSecret } from './signature'

type Kind = {
  title: string
  icon: Icon
  /** What it is for, in a sentence. */
  text: string
  /** What a run gets, for the form. */
  gives: string
  /** Where one begins. */
  start: () => Config
}

/** The trigger types in words, in the order in which they are offered. */
export const kinds: Record<TriggerType, Kind> = {
  scheduled: {
    title: 'Schedule',
    icon: IconCalendarClock,
    text: 'Runs at times that you choose: every morning, every ten minutes, on the first of the month.',
    gives: 'inputData is {"scheduledAt", "firedAt", "missedCount"}.',
    start: () => ({ cron: '0 9 * * 1-5', timezone: localZone() }),
  },
  webhook: {
    title: 'Webhook',
    icon: IconWebhook,
    text: 'Gives you an address. A service such as GitHub or Stripe posts to it whenever something happens there.',
    gives: 'inputData is the JSON body; its headers are at trigger.headers.',
    start: () => ({ secret: newSecret('') }),
  },
  api: {
    title: 'API call',
    icon: IconApi,
    text: 'Your own programs start it with a key and plain JSON. Agents see it as a tool over MCP.',
    gives: 'inputData is the JSON body, checked against your schema.',
    start: () => ({}),
  },
  email: {
    title: 'Mail',
    icon: IconMail,
    text: 'Gives you a mail address. Every message to it starts a run, with its text and attachments.',
    gives: 'inputData is {"messageId", "from", "to", "subject", "text", "html", "date", "headers", "attachments"}.',
    start: () => ({}),
  },
  slack: {
    title: 'Slack',
    icon: IconBrandSlack,
    text: 'Listens to the Events API of a Slack app: messages, mentions, reactions.',
    gives: 'inputData is {"eventId", "eventType", "channel", "user", "text", "ts", "threadTs", "teamId", "raw"}.',
    start: () => ({}),
  },
  event: {
    title: 'Event',
    icon: IconBell,
    text: 'Reacts to what happens on this server: a run that failed, a blueprint that was published, an event of your own.',
    gives: 'inputData is {"event", "at", "blueprintId", "executionId", "data"}.',
    start: () => ({ event: 'execution.failed' }),
  },
  manual: {
    title: 'By hand',
    icon: IconHandClick,
    text: 'A button. Useful to keep a ledger of runs that people start, with a limit of its own.',
    gives: 'inputData is what is given when it is fired.',
    start: () => ({}),
  },
}

/** All types, in that order. */
export const types = Object.keys(kinds) as TriggerType[]

/** Whether a text names a type. */
export function isType(text: string): text is TriggerType {
  return Object.hasOwn(kinds, text)
}

/** The time zone of this browser. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}
