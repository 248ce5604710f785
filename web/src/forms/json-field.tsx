import { JsonBox } from './any-field'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { sentence } from './issues'

/** A JSON Schema, or anything else that is edited as JSON text. */
export function JsonField({ field, id, label, path, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  const lines = issues.map((issue) => ({ ...issue, message: sentence(issue), path: [] }))
  return (
    <Frame id={id} label={label} required={required} description={field.description} issues={lines} actions={actions}>
      <JsonBox
        {...about(id, lines, required)}
        path={path}
        value={value}
        onChange={onChange}
        readOnly={readOnly}
        optional={!required}
      />
    </Frame>
  )
}
