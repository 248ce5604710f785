import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { TemplateField } from './template-field'
import { TextField } from './text-field'
import { oneLine } from './values'
import { suggestedFieldText } from '../text/forms'
import { commonText } from '../text/common'

/** A text that is usually one of a few: the user chooses one, or types another. */
export function SuggestedField(props: ControlProps) {
  const { field, id, label, value, onChange, issues, required, actions } = props
  const { complete, readOnly } = useFormState()
  const [other, setOther] = useState(false)
  const suggestions = field.suggestions ?? []
  const text = typeof value === 'string' ? value : ''
  if (readOnly || other || (text !== '' && !suggestions.includes(text))) {
    // If it is empty, the list of choices is shown again.
    return (
      <div
        onBlur={() => {
          if (text === '') setOther(false)
        }}
      >
        {complete ? <TemplateField {...props} lines={false} /> : <TextField {...props} />}
      </div>
    )
  }
  const data = suggestions.map((one) => ({ value: one, label: one }))
  const standard = field.hasDefault ? suggestedFieldText.default(oneLine(field.standard)) : commonText.notSet
  if (!required || text === '') data.unshift({ value: '', label: required ? commonText.choose : standard })
  data.push({ value: '…', label: suggestedFieldText.other })
  return (
    <Frame id={id} label={label} required={required} description={field.description} issues={issues} actions={actions}>
      <NativeSelect
        {...about(id, issues, required)}
        data={data}
        value={text}
        onChange={(event) => {
          const next = event.currentTarget.value
          if (next === '…') setOther(true)
          else onChange(next === '' ? undefined : next)
        }}
      />
    </Frame>
  )
}
