import { NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { inUnit, msOf, type Unit, unitOf, units } from './duration'
import classes from './forms.module.css'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { isError } from './issues'
import { useKeptText, useNotApplied } from './unapplied'
import { oneLine } from './values'
import { durationFieldText } from '../text/forms'

/** A duration in a unit that the user chooses; the value is in milliseconds. */
export function DurationField({ field, id, label, path, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  const [chosen, setUnit] = useState<Unit>()
  const [draft, setDraft] = useState(useKeptText(path))
  const standard = typeof field.standard === 'number' ? field.standard : undefined
  const unit = chosen ?? unitOf(value ?? standard)
  const stands = draft !== undefined && (msOf(draft, unit) ?? undefined) === value
  const shown = stands
    ? draft
    : typeof value === 'number'
      ? inUnit(value, unit)
      : value === undefined
        ? ''
        : oneLine(value)
  const bad = shown.trim() !== '' && msOf(shown, unit) === undefined
  useNotApplied(path, shown, bad ? durationFieldText.notAppliedNotADuration : undefined)
  const found = bad ? [{ path: [], message: durationFieldText.notAppliedNotADuration }] : issues
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={field.description?.replace(/, in milliseconds(?=[;.,]|$)/, '').replace('in milliseconds of', 'in')}
      issues={found}
      actions={actions}
    >
      <div className={classes.row}>
        <TextInput
          {...about(id, found, required)}
          className={classes.grow}
          inputMode="decimal"
          value={shown}
          readOnly={readOnly}
          placeholder={standard === undefined ? undefined : inUnit(standard, unit)}
          error={found.some(isError)}
          onChange={(event) => {
            setDraft(event.currentTarget.value)
            setUnit(unit)
            onChange(msOf(event.currentTarget.value, unit))
          }}
        />
        <NativeSelect
          aria-label={durationFieldText.unit(label)}
          w={148}
          data={units.map(({ name }) => name)}
          value={unit}
          disabled={readOnly}
          onChange={(event) => {
            const next = event.currentTarget.value as Unit
            setUnit(next)
            // The number stays as typed; its meaning changes visibly.
            if (shown.trim() !== '') {
              setDraft(shown)
              onChange(msOf(shown, next))
            }
          }}
        />
      </div>
    </Frame>
  )
}
