import { Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { parseJson, show } from '../../api/json'
import { JsonInput } from '../../parts'
import { fault, type FieldsProps } from './fields'
import { textOf } from './types'
import classes from './triggers.module.css'

const example = {
  type: 'object',
  required: ['order'],
  properties: { order: { type: 'integer' }, note: { type: 'string' } },
}

/** label and inputSchema. The text of a schema that is no JSON stays in the field and is not taken over. */
export function ApiFields({ config, set, error }: FieldsProps) {
  const [text, setText] = useState(() => (config.inputSchema ? show(config.inputSchema) : ''))
  const write = (next: string) => {
    setText(next)
    if (next.trim() === '') set({ inputSchema: undefined })
    else {
      try {
        set({ inputSchema: parseJson(next) })
      } catch {
        set({ inputSchema: next }) // no JSON: the server refuses it, should somebody save it
      }
    }
  }
  return (
    <section className={classes.box} aria-label="The call">
      <TextInput
        label="Label"
        description="What it is called: here, and as a tool for agents over MCP."
        value={textOf(config, 'label')}
        onChange={(event) => set({ label: event.currentTarget.value || undefined })}
        error={fault(error, 'label')}
        maxLength={200}
      />
      <JsonInput
        label="Schema of the input"
        description="A JSON Schema, draft 2020-12. A body that breaks it is answered 400 and starts nothing. Empty: anything goes."
        value={text}
        onChange={write}
        error={fault(error, 'inputSchema')}
        optional
        minRows={6}
      />
      {text.trim() === '' && (
        <Group>
          <Button variant="default" size="compact-md" onClick={() => write(show(example))}>
            Begin with an example
          </Button>
        </Group>
      )}
    </section>
  )
}
