import { CodeBox } from './code-box'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { codeFieldText } from '../text/forms'

/** Source code. An error of the last run is shown at its line. */
export function CodeField({ field, id, name, label, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly, context } = useFormState()
  const failed = context.codeErrors?.[name]
  const found = failed
    ? [...issues, { path: [], message: codeFieldText.lineInTheLastRun(failed.line, failed.message) }]
    : issues
  return (
    <Frame id={id} label={label} required={required} description={field.description} issues={found} actions={actions}>
      <CodeBox
        {...about(id, found, required)}
        value={typeof value === 'string' ? value : ''}
        onChange={(text) => onChange(text === '' && !required ? undefined : text)}
        readOnly={readOnly}
        rows={8}
        program
        errorLine={failed?.line}
        placeholder={codeFieldText.returnInput}
      />
    </Frame>
  )
}
