import { TextInput } from '@mantine/core'
import { fault, type FieldsProps } from './fields'
import { SchemaField } from './schema-field'
import { textOf } from './types'
import classes from './triggers.module.css'
import { apiFieldsText } from '../../text/triggers'

const example = {
  type: 'object',
  required: ['order'],
  properties: { order: { type: 'integer' }, note: { type: 'string' } },
}

/** label and inputSchema. */
export function ApiFields({ config, set, error }: FieldsProps) {
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
      <SchemaField
        label={apiFieldsText.inputSchema}
        description={apiFieldsText.jsonSchemaDraft202012Bodies}
        value={config.inputSchema}
        example={example}
        onChange={(inputSchema) => set({ inputSchema })}
        error={fault(error, 'inputSchema')}
        optional
      />
    </section>
  )
}
