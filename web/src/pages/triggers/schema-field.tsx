import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { parseJson, show } from '../../api/json'
import { JsonInput } from '../../parts'
import { apiFieldsText } from '../../text/triggers'

/** A JSON Schema, with a button that inserts an example. Text that is not JSON stays, and is refused when it is saved. */
export function SchemaField({
  label,
  description,
  value,
  example,
  onChange,
  error,
  optional = false,
}: {
  label: string
  description: string
  value: unknown
  example: object
  onChange: (value: unknown) => void
  error: string | undefined
  optional?: boolean
}) {
  const [text, setText] = useState(() => (typeof value === 'string' ? value : value ? show(value) : ''))
  const write = (next: string) => {
    setText(next)
    if (next.trim() === '') onChange(undefined)
    else {
      try {
        onChange(parseJson(next))
      } catch {
        onChange(next)
      }
    }
  }
  return (
    <>
      <JsonInput
        label={label}
        description={description}
        value={text}
        onChange={write}
        error={error}
        optional={optional}
        minRows={6}
      />
      {text.trim() === '' && (
        <Group>
          <Button variant="default" size="compact-md" onClick={() => write(show(example))}>
            {apiFieldsText.insertAnExample}
          </Button>
        </Group>
      )}
    </>
  )
}
