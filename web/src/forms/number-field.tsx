import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { isError } from './issues'
import { useKeptText, useNotApplied } from './unapplied'
import { isNumber, oneLine, readNumber, same } from './values'
import { numberFieldText } from '../text/forms'

/** A number with any number of digits. */
export function NumberField({ field, id, label, path, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  const [draft, setDraft] = useState(useKeptText(path))
  // The typed text is kept while it equals the value of the page; a text that is not a number has no value.
  const shown =
    draft !== undefined && (same(readNumber(draft), value) || (value === undefined && readNumber(draft) === undefined))
      ? draft
      : isNumber(value)
        ? oneLine(value)
        : ''
  const bad = shown.trim() !== '' && readNumber(shown) === undefined
  useNotApplied(path, shown, bad ? numberFieldText.notAppliedNotANumber : undefined)
  const found = bad ? [{ path: [], message: numberFieldText.notAppliedNotANumber }] : issues
  return (
    <Frame id={id} label={label} required={required} description={describe(field)} issues={found} actions={actions}>
      <TextInput
        {...about(id, found, required)}
        inputMode={field.whole && Number(field.schema.minimum ?? -1) >= 0 ? 'numeric' : 'decimal'}
        value={shown}
        readOnly={readOnly}
        placeholder={field.hasDefault ? oneLine(field.standard) : undefined}
        error={found.some(isError)}
        onChange={(event) => {
          setDraft(event.currentTarget.value)
          onChange(readNumber(event.currentTarget.value))
        }}
      />
    </Frame>
  )
}

function describe(field: ControlProps['field']): string | undefined {
  const { minimum, maximum } = field.schema
  const bounds =
    minimum !== undefined && maximum !== undefined
      ? numberFieldText.fromTo(oneLine(minimum), oneLine(maximum))
      : minimum !== undefined
        ? numberFieldText.atLeast(oneLine(minimum))
        : maximum !== undefined
          ? numberFieldText.atMost(oneLine(maximum))
          : ''
  return [field.description, bounds].filter(Boolean).join(' ') || undefined
}
