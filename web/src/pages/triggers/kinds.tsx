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
import { textOf, type Config, type Trigger, type TriggerType } from './types'
import { eventInWords, presets, upper } from './words'
import { localZone } from './zone'
import { triggerKinds } from '../../text/kinds.gen'
import { kindsText } from '../../text/triggers'

type Look = {
  icon: Icon
  /** The initial config. */
  start: () => Config
  /** The title of the section about using it. */
  use: string
  /** What starts a run: `Every weekday at 09:00, Europe/Berlin`; empty for the title of the type. Secrets may be hidden (null) in the config. */
  listensTo: (config: Config) => string
  /** A sample input. */
  sample: (config: Config) => Record<string, unknown>
}

type Kind = Look & {
  title: string
  /** The source of its firings in the ledger. */
  source: string
  /** A description in one sentence. */
  text: string
  /** The input of a run, for the form. */
  input: string
  /** The keys of its config besides common ones. */
  keys: string[]
}

const usual = {
  start: () => ({}),
  use: kindsText.fireTheTrigger,
  listensTo: () => '',
  sample: () => ({}),
}

// The icon of each type, and where it differs from `usual`, in the order of the choices.
const looks: Record<TriggerType, Partial<Look> & { icon: Icon }> = {
  scheduled: {
    icon: IconCalendarClock,
    start: () => ({ cron: '0 9 * * 1-5', timezone: localZone() }),
    use: kindsText.nextRuns,
    listensTo: (config) => upper(scheduleInWords(textOf(config, 'cron'), textOf(config, 'timezone'))),
    sample: () => ({ scheduledAt: at(), firedAt: at(), missedCount: 0 }),
  },
  webhook: {
    icon: IconWebhook,
    start: () => ({ secret: newSecret('') }),
    use: kindsText.sendADelivery,
    listensTo: (config) =>
      config.form !== undefined && config.form !== null
        ? kindsText.aForm
        : kindsText.webhook(
            presets.get(textOf(config, 'preset')) ??
              ('secret' in config ? kindsText.signedWithASecret : kindsText.unsigned),
          ),
    sample: (config) => (config.form ? (exampleOf(config.form) as Record<string, unknown>) : {}),
  },
  api: {
    icon: IconApi,
    use: kindsText.callTheApi,
    sample: (config) => exampleOf(config.inputSchema) as Record<string, unknown>,
  },
  email: {
    icon: IconMail,
    use: kindsText.sendMail,
    listensTo: (config) =>
      textOf(config, 'address') ? kindsText.mailTo(textOf(config, 'address')) : kindsText.mailToItsAddress,
    sample: () => ({
      messageId: '<1@example.org>',
      from: { address: 'ada@example.org', name: 'Ada' },
      to: [],
      subject: kindsText.sampleSubject,
      text: kindsText.sampleText,
      html: '',
      date: at(),
      headers: {},
      attachments: [],
    }),
  },
  slack: {
    icon: IconBrandSlack,
    use: kindsText.connectSlack,
    listensTo: (config) => {
      const channel = textOf(config, 'channel')
      const where = channel && kindsText.in(/^[A-Z0-9]+$/.test(channel) ? '' : '#', channel.replace(/^#/, ''))
      return kindsText.slack2(textOf(config, 'eventType') || kindsText.everyEvent, where)
    },
    sample: (config) => ({
      eventId: 'Ev1',
      eventType: config.eventType ?? 'message',
      channel: config.channel ?? 'C0123456789',
      user: 'U0123456789',
      text: kindsText.sampleSubject,
      ts: '1700000000.000100',
      threadTs: null,
      teamId: 'T0123456789',
      raw: {},
    }),
  },
  event: {
    icon: IconBell,
    start: () => ({ event: 'execution.failed' }),
    use: kindsText.emitTheEvent,
    listensTo: (config) => {
      const event = textOf(config, 'event')
      return kindsText.when(
        eventInWords(event) || kindsText.isEmitted(event),
        textOf(config, 'blueprintId') && kindsText.ofOneBlueprint,
      )
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
    icon: IconHandClick,
  },
}

/** The trigger types in words, in the order of the choices. */
export const kinds = Object.fromEntries(
  Object.entries(looks).map(([type, look]) => [type, { ...usual, ...triggerKinds[type as TriggerType], ...look }]),
) as Record<TriggerType, Kind>

/** All types, in that order. */
export const types = Object.keys(kinds) as TriggerType[]

/** Reports whether a text is a type. */
export function isType(text: string): text is TriggerType {
  return Object.hasOwn(kinds, text)
}

/** What starts a trigger, in words. */
export function listensTo(type: TriggerType, config: Config): string {
  return kinds[type].listensTo(config) || kinds[type].title
}

/** The name of a trigger: its label, or what starts it. */
export function nameOf({ trigger_type: type, config }: Pick<Trigger, 'trigger_type' | 'config'>): string {
  return textOf(config, 'label') || listensTo(type, config)
}

/** The sources of the ledger in words. */
export const sources = new Map(
  Object.entries<string>({
    ...Object.fromEntries(Object.values(kinds).map((kind) => [kind.source, kind.title])),
    redelivery: kindsText.redelivery,
  }),
)

function at(): string {
  return new Date(now()).toISOString()
}
