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
import { kindsText } from '../../text/triggers'
import { commonText } from '../../text/common'

type Kind = {
  title: string
  /** The source of its firings in the ledger. */
  source: string
  icon: Icon
  /** A description in one sentence. */
  text: string
  /** The input of a run, for the form. */
  gives: string
  /** The initial config. */
  start: () => Config
  /** The keys in the form. */
  keys: string[]
  /** The title of the section about using it. */
  use: string
  /** What starts a run: `Every weekday at 09:00, Europe/Berlin`. Secrets may be hidden (null) in the config. */
  listensTo: (config: Config) => string
  /** A sample input. */
  sample: (config: Config) => Record<string, unknown>
}

/** The trigger types in words, in the order of the choices. */
export const kinds: Record<TriggerType, Kind> = {
  scheduled: {
    title: kindsText.schedule,
    source: 'schedule',
    icon: IconCalendarClock,
    text: kindsText.runsAtSetTimesForExample,
    gives: kindsText.inputdataIsScheduledatFiredat,
    start: () => ({ cron: '0 9 * * 1-5', timezone: localZone() }),
    keys: ['cron', 'timezone', 'catchUp'],
    use: kindsText.nextRuns,
    listensTo: (config) => upper(scheduleInWords(textOf(config, 'cron'), textOf(config, 'timezone'))),
    sample: () => ({ scheduledAt: at(), firedAt: at(), missedCount: 0 }),
  },
  webhook: {
    title: commonText.webhook,
    source: 'webhook',
    icon: IconWebhook,
    text: kindsText.providesAUrlThatServicesSuch,
    gives: kindsText.inputdataIsTheJsonBodyIts,
    start: () => ({ secret: newSecret('') }),
    keys: ['secret', 'preset', 'respond', 'form', 'thanks'],
    use: kindsText.sendADelivery,
    listensTo: (config) =>
      config.form !== undefined && config.form !== null
        ? kindsText.aForm
        : kindsText.webhook(
            presets[textOf(config, 'preset')] ??
              ('secret' in config ? kindsText.signedWithASecret : kindsText.unsigned),
          ),
    sample: (config) => (config.form ? (exampleOf(config.form) as Record<string, unknown>) : {}),
  },
  api: {
    title: kindsText.apiCall,
    source: 'api',
    icon: IconApi,
    text: kindsText.startsRunsFromYourProgramsWith,
    gives: kindsText.inputdataIsTheJsonBodyChecked,
    start: () => ({}),
    keys: ['inputSchema'],
    use: kindsText.callTheApi,
    listensTo: () => kindsText.apiCall,
    sample: (config) => exampleOf(config.inputSchema) as Record<string, unknown>,
  },
  email: {
    title: kindsText.mail,
    source: 'email',
    icon: IconMail,
    text: kindsText.providesAMailAddressEach,
    gives: kindsText.inputdataIsMessageidFromTo,
    start: () => ({}),
    keys: ['allowFrom', 'requireAuth', 'attachments'],
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
    title: kindsText.slack,
    source: 'slack',
    icon: IconBrandSlack,
    text: kindsText.receivesMessagesMentionsAnd,
    gives: kindsText.inputdataIsEventidEventtype,
    start: () => ({}),
    keys: ['signingSecret', 'eventType', 'channel', 'connectionId'],
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
    title: kindsText.event,
    source: 'event',
    icon: IconBell,
    text: kindsText.reactsToEventsOfThisServer,
    gives: kindsText.inputdataIsEventAtBlueprintid,
    start: () => ({ event: 'execution.failed' }),
    keys: ['event', 'blueprintId'],
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
    title: kindsText.manual,
    source: 'manual',
    icon: IconHandClick,
    text: kindsText.startsRunsWithAButtonHas,
    gives: kindsText.inputdataIsTheJsonYouEnter,
    start: () => ({}),
    keys: [],
    use: kindsText.fireTheTrigger,
    listensTo: () => kindsText.manual,
    sample: () => ({}),
  },
}

/** All types, in that order. */
export const types = Object.keys(kinds) as TriggerType[]

/** Reports whether a text is a type. */
export function isType(text: string): text is TriggerType {
  return Object.hasOwn(kinds, text)
}

/** What starts a trigger, in words. */
export function listensTo(type: TriggerType, config: Config): string {
  return kinds[type].listensTo(config)
}

/** The name of a trigger: its label, or what starts it. */
export function nameOf({ trigger_type: type, config }: Pick<Trigger, 'trigger_type' | 'config'>): string {
  return textOf(config, 'label') || listensTo(type, config)
}

/** The sources of the ledger in words. */
export const sources: Record<string, string> = {
  ...Object.fromEntries(Object.values(kinds).map((kind) => [kind.source, kind.title])),
  redelivery: kindsText.redelivery,
}

/** The keys of a config that the form of its type does not show. */
export function unshown(type: TriggerType, config: Config): string[] {
  const known = [
    ...kinds[type].keys,
    'label',
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
