import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { isError } from './issues'
import { oneLine, same } from './values'
import { choiceFieldText } from '../text/forms'
import { commonText } from '../text/common'

/** One of several values. */
export function ChoiceField({ field, id, label, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  const choices = field.choices ?? []
  const at = choices.findIndex((choice) => same(choice.value, value))
  const standard = choices.find((choice) => field.hasDefault && same(choice.value, field.standard))
  // A choice that equals the default is listed apart only while it is selected.
  const data = choices
    .map((choice, index) => ({
      value: String(index),
      label: choice.label,
      hidden: choice === standard && index !== at,
    }))
    .filter((one) => !one.hidden || (required && value !== undefined))
    .map(({ value, label }) => ({ value, label }))
  if (!required || value === undefined)
    data.unshift({
      value: '',
      label: standard ? choiceFieldText.default(standard.label) : required ? commonText.choose : commonText.notSet,
    })
  if (value !== undefined && at < 0)
    data.push({ value: 'other', label: choiceFieldText.notAValidChoice(oneLine(value)) })
  return (
    <Frame id={id} label={label} required={required} description={field.description} issues={issues} actions={actions}>
      {readOnly ? (
        <TextInput
          {...about(id, issues)}
          readOnly
          value={
            data.find((one) => one.value === (value === undefined ? '' : at < 0 ? 'other' : String(at)))?.label ?? ''
          }
        />
      ) : (
        <NativeSelect
          {...about(id, issues, required)}
          data={data}
          value={value === undefined ? '' : at < 0 ? 'other' : String(at)}
          error={issues.some(isError)}
          onChange={(event) => {
            const next = event.currentTarget.value
            if (next !== 'other') onChange(next === '' ? undefined : choices[Number(next)]?.value)
          }}
        />
      )}
    </Frame>
  )
}

/** Yes or no; an optional one can also keep its default. */
export function BooleanField({ field, id, label, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  // "Not set" is a separate choice if there is no default.
  if (!required && !field.hasDefault) {
    const choices = [
      { value: true, label: commonText.yes },
      { value: false, label: commonText.no },
    ]
    return (
      <ChoiceField
        {...{
          field: { ...field, choices },
          id,
          label,
          value,
          onChange,
          issues,
          required,
          actions,
          schema: field.schema,
          name: '',
          path: [],
        }}
      />
    )
  }
  return (
    <Frame id={id} label={label} required={required} description={field.description} issues={issues} actions={actions}>
      <Checkbox
        {...about(id, issues, required)}
        label={commonText.yes}
        aria-labelledby={`${id}-label`}
        checked={value === undefined ? field.standard === true : value === true}
        disabled={readOnly}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </Frame>
  )
}
