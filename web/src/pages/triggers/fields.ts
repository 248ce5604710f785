import { describeError, type Issue, showPath } from '../../api/errors'
import type { Config } from './types'
import {
  apiFieldsText,
  commonFieldsText,
  emailFieldsText,
  eventFieldsText,
  fieldsText,
  scheduleFieldsText,
  slackFieldsText,
  webhookFieldsText,
  zoneSelectText,
} from '../../text/triggers'
import { commonText } from '../../text/common'

/** The props of the fields of each type. */
export type FieldsProps = {
  config: Config
  /** Sets keys; undefined removes one. */
  set: (change: Config) => void
  /** The error of the last attempt to save. */
  error: unknown
  /** Whether the trigger already exists. */
  stored: boolean
}

// The labels of the fields, by their paths in the API.
const labels = new Map(
  Object.entries<string>({
    blueprintId: commonText.blueprint,
    'config.cron': scheduleFieldsText.cronExpression,
    'config.timezone': zoneSelectText.timeZone,
    'config.catchUp': scheduleFieldsText.missedRuns,
    'config.preset': commonText.sender,
    'config.form': webhookFieldsText.form,
    'config.thanks': webhookFieldsText.afterSending,
    'config.secret': webhookFieldsText.secret,
    'config.respond': commonText.response,
    'config.label': commonFieldsText.label,
    'config.inputSchema': apiFieldsText.inputSchema,
    'config.allowFrom': emailFieldsText.allowedSenders,
    'config.requireAuth': emailFieldsText.requireSenderAuthentication,
    'config.attachments': emailFieldsText.attachments,
    'config.signingSecret': slackFieldsText.signingSecret,
    'config.eventType': slackFieldsText.eventType,
    'config.channel': slackFieldsText.channel,
    'config.connectionId': commonText.connection,
    'config.event': eventFieldsText.event,
    'config.blueprintId': eventFieldsText.blueprintFilter,
    'config.concurrency': commonFieldsText.limitConcurrentRuns,
    'config.concurrency.limit': commonFieldsText.maximum,
    'config.concurrency.onLimit': commonFieldsText.whenTheLimitIsReached,
    'config.breaker': commonFieldsText.pauseAfter20FailedRunsIn,
    'config.record': commonFieldsText.recordTraffic,
  }),
)

/** The server's message for a field, if any. An issue within the value of the field names the place. */
export function fault(error: unknown, ...path: string[]): string | undefined {
  const field = ['config', ...path].join('.')
  const found = describeError(error).issues.find((issue) => located(issue.path)?.field === field)
  if (!found) return undefined
  const { place } = located(found.path)!
  return place ? `${place}: ${plainer(found.message)}` : plainer(found.message)
}

/** The invalid field and what is wrong with it, as the form names it. Undefined if the form has no such field. */
export function faultWithLabel({ path, message }: Issue): string | undefined {
  const found = located(path)
  if (!found) return undefined
  const label = labels.get(found.field)!
  return `${found.place ? fieldsText.within(label, found.place) : label}: ${plainer(message)}`
}

// Returns the innermost field of the form that contains a path, and the place within its value.
function located(path: Issue['path']): { field: string; place: string } | undefined {
  for (let length = path.length; length > 0; length--) {
    const field = showPath(path.slice(0, length))
    if (!labels.has(field)) continue
    const [first, ...rest] = path.slice(length)
    if (first === undefined) return { field, place: '' }
    return { field, place: typeof first === 'number' ? fieldsText.entry(first + 1) : [first, ...rest].join('.') }
  }
  return undefined
}

// Rewords a message of the server, which names fields as the API does, for the user of the form.
function plainer(message: string): string {
  if (message.startsWith('required with a preset')) return fieldsText.requiredForThisSender
  return message.replace(/\b[a-z]+[A-Z]\w*\b/g, (key) => {
    const label = labels.get(`config.${key}`)
    return label === undefined ? key : `"${label}"`
  })
}
