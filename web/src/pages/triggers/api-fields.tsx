import { Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { parseJson, show } from '../../api/json'
import { JsonInput } from '../../parts'
import { fault, type FieldsProps } from './fields'
import { textOf } from './types'
import classes from './triggers.module.css'
import { apiFieldsText } from '../../text/triggers'

const example = {
  type: 'object',
  required: ['order'],
  properties: { order: { type: 'integer' }, note: { type: 'string' } },
}

/** label and inputSchema. An invalid JSON schema stays in the field and is not applied. */
export function ApiFields({ config, set, error }: FieldsProps) {
  const [text, setText] = useState(() => (config.inputSchema ? show(config.inputSchema) : ''))
  const write = (next: string) => {
    setText(next)
    if (next.trim() === '') set({ inputSchema: undefined })
    else {
      try {
        set({ inputSchema: parseJson(next) })
      } catch {
        set({ inputSchema: next }) // invalid JSON: the server refuses it on save
      }
    }
  }
  return (
    <section className={classes.box} aria-label={apiFieldsText.apiCall}>
      <TextInput
        label={apiFieldsText.label}
        description={apiFieldsText.shownHereAndToAgentsAs}
        value={textOf(config, 'label')}
        onChange={(event) => set({ label: event.currentTarget.value || undefined })}
        error={fault(error, 'label')}
        maxLength={200}
      />
      <JsonInput
        label={apiFieldsText.inputSchema}
        description={apiFieldsText.jsonSchemaDraft202012Bodies}
        value={text}
        onChange={write}
        error={fault(error, 'inputSchema')}
        optional
        minRows={6}
      />
      {text.trim() === '' && (
        <Group>
          <Button variant="default" size="compact-md" onClick={() => write(show(example))}>
            {apiFieldsText.insertAnExample}
          </Button>
        </Group>
      )}
    </section>
  )
}
