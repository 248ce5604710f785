import { fault, type FieldsProps } from './fields'
import { SchemaField } from './schema-field'
import classes from './triggers.module.css'
import { apiFieldsText } from '../../text/triggers'

const example = {
  type: 'object',
  required: ['order'],
  properties: { order: { type: 'integer' }, note: { type: 'string' } },
}

/** inputSchema. */
export function ApiFields({ config, set, error }: FieldsProps) {
  return (
    <section className={classes.box} aria-label={apiFieldsText.apiCall}>
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
