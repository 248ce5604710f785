import type { ComponentType } from 'react'
import { ApiFields } from './api-fields'
import { EmailFields } from './email-fields'
import { EventFields } from './event-fields'
import type { FieldsProps } from './fields'
import { kinds } from './kinds'
import { ScheduleFields } from './schedule-fields'
import { SlackFields } from './slack-fields'
import type { Config, TriggerType } from './types'
import { WebhookFields } from './webhook-fields'

// Separate from the table of kinds, which lists and trigger pages import without the forms.
const forms: Partial<Record<TriggerType, ComponentType<FieldsProps>>> = {
  scheduled: ScheduleFields,
  webhook: WebhookFields,
  api: ApiFields,
  email: EmailFields,
  slack: SlackFields,
  event: EventFields,
}

/** The fields of a type. */
export function TypeFields({ type, ...props }: FieldsProps & { type: TriggerType }) {
  const Form = forms[type]
  return Form && <Form {...props} />
}

/** The keys of a config that the dashboard does not know, and all keys of a type without a form. */
export function unshown(type: TriggerType, config: Config): string[] {
  const known = [...(forms[type] ? kinds[type].keys : []), 'label', 'concurrency', 'breaker', 'record']
  return Object.keys(config).filter((key) => !known.includes(key))
}
