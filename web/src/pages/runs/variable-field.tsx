import { Checkbox, NativeSelect, PasswordInput, Stack, Textarea, TextInput } from '@mantine/core'
import { JsonInput } from '../../parts'
import { type Field, hasPreset, type Variable } from './variable-fields'
import { variableFieldText } from '../../text/runs'
import { commonText } from '../../text/common'

type Props = { variable: Variable; field: Field; fault?: string; onChange: (field: Field) => void }

/** The field for one variable of a run. */
export function VariableField({ variable, field, fault, onChange }: Props) {
  const { name, type, secret } = variable
  const write = (text: string) => onChange({ ...field, text })
  const common = {
    label: name,
    description: variable.description || undefined,
    error: fault,
    value: field.text,
    required: variable.required && !hasPreset(variable),
    withAsterisk: variable.required && !hasPreset(variable),
  }
  if (secret) {
    return (
      <Stack gap={6}>
        {hasPreset(variable) && (
          <Checkbox
            label={variableFieldText.useTheStoredValueOf(name)}
            description={variable.description || undefined}
            checked={field.stored}
            onChange={(event) => onChange({ text: '', stored: event.currentTarget.checked })}
          />
        )}
        {!field.stored && (
          <PasswordInput
            {...common}
            aria-invalid={fault !== undefined || undefined}
            autoComplete="off"
            onChange={(event) => write(event.currentTarget.value)}
            visibilityToggleButtonProps={{ 'aria-label': variableFieldText.show(name) }}
          />
        )}
      </Stack>
    )
  }
  switch (type) {
    case 'boolean':
      return (
        <NativeSelect
          {...common}
          onChange={(event) => write(event.currentTarget.value)}
          data={hasPreset(variable) ? ['true', 'false'] : [{ value: '', label: commonText.notSet }, 'true', 'false']}
        />
      )
    case 'json':
      return <JsonInput {...common} optional minRows={2} maxRows={10} onChange={write} />
    case 'number':
      return (
        <TextInput
          {...common}
          inputMode="decimal"
          autoComplete="off"
          onChange={(event) => write(event.currentTarget.value)}
        />
      )
    default:
      return (
        <Textarea
          {...common}
          autosize
          minRows={1}
          maxRows={6}
          autoComplete="off"
          onChange={(event) => write(event.currentTarget.value)}
        />
      )
  }
}
