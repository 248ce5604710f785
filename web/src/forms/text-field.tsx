import { Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { isError } from './issues'
import { SecretInput } from './secret-input'
import { isLongText } from './schema'
import { oneLine } from './values'
import { dayTime, momentOf } from './moment'
import { textFieldText } from '../text/forms'

const inputTypes = new Map(Object.entries<string>({ email: 'email', uri: 'url', url: 'url' }))

/** Plain text. */
export function TextField({ field, id, name, label, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  const format = String(field.schema['x-kind'] === 'url' ? 'url' : field.schema.format)
  const props = {
    ...about(id, issues, required),
    value: typeof value === 'string' ? value : '',
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange(event.currentTarget.value === '' && !required ? undefined : event.currentTarget.value),
    readOnly,
    placeholder: field.hasDefault
      ? oneLine(field.standard)
      : value === '' && !required
        ? textFieldText.emptyText
        : undefined,
    error: issues.some(isError),
    maxLength: undefined, // longer text is reported, not truncated
  }
  return (
    <Frame id={id} label={label} required={required} description={field.description} issues={issues} actions={actions}>
      {isLongText(field, name) ? (
        <Textarea {...props} autosize minRows={3} maxRows={16} />
      ) : (
        <TextInput {...props} type={inputTypes.get(format) ?? 'text'} />
      )}
    </Frame>
  )
}

/** A date, or an instant in local time. */
export function DateField({ field, id, label, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  const day = field.kind === 'date'
  const text = typeof value === 'string' ? value : ''
  const local = day ? text : dayTime(text)
  // A text that such a control cannot show is edited as text.
  if (text !== '' && (local === undefined || (day && !/^\d{4}-\d\d-\d\d$/.test(text))))
    return (
      <TextField
        {...{ field, id, label, value, onChange, issues, required, actions, schema: field.schema, name: '', path: [] }}
      />
    )
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={field.description ?? (day ? undefined : textFieldText.inYourLocalTime)}
      issues={issues}
      actions={actions}
    >
      <TextInput
        {...about(id, issues, required)}
        type={day ? 'date' : 'datetime-local'}
        step={day ? undefined : 1}
        value={local ?? ''}
        readOnly={readOnly}
        error={issues.some(isError)}
        onChange={(event) => {
          const next = event.currentTarget.value
          onChange(next === '' ? undefined : day ? next : momentOf(next))
        }}
      />
    </Frame>
  )
}

/** A value that is written and never shown. null represents a stored one. */
export function SecretField({ field, id, label, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  const [before] = useState(value === null ? null : undefined)
  return (
    <Frame id={id} label={label} required={required} description={field.description} issues={issues} actions={actions}>
      <SecretInput
        {...about(id, issues, required)}
        value={typeof value === 'string' ? value : ''}
        stored={value === null}
        onChange={(next) => onChange(next === '' ? before : next)}
        readOnly={readOnly}
      />
    </Frame>
  )
}
