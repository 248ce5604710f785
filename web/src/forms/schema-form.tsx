import { useMemo } from 'react'
import { FieldView } from './field-view'
import { FormStateContext, type FormState } from './form-state'
import classes from './forms.module.css'
import { Issues } from './frame'
import { split } from './issues'
import { MemberFields } from './object-field'
import { fieldOf } from './schema'
import type { SchemaFormProps } from './types'
import { isObject } from './values'
import { schemaFormText } from '../text/forms'

const noContext = {}

/**
 * A form generated from a JSON Schema. An object's members are stacked; any other value is one field. The page holds
 * the value: the form passes the whole value at each change, and keeps what it does not show.
 */
export function SchemaForm({
  schema,
  value,
  onChange,
  issues = [],
  complete,
  readOnly = false,
  context = noContext,
  hide,
  onLeave,
}: SchemaFormProps) {
  const state: FormState = useMemo(
    () => ({ root: schema, complete, readOnly, context, FieldView, onLeave }),
    [schema, complete, readOnly, context, onLeave],
  )
  const field = useMemo(() => fieldOf(schema), [schema])
  const members = field.kind === 'object' && (value === undefined || value === null || isObject(value))
  return (
    <FormStateContext value={state}>
      <div className={classes.ground}>
        <div className={classes.form}>
          {members ? (
            <>
              <Issues issues={split(issues).own} />
              <MemberFields
                field={field}
                path={[]}
                value={isObject(value) ? value : {}}
                onChange={onChange}
                issues={issues}
                hide={hide}
              />
            </>
          ) : (
            <FieldView
              schema={schema}
              name="value"
              label={field.title ?? schemaFormText.value}
              path={[]}
              required={false}
              value={value}
              onChange={onChange}
              issues={issues}
            />
          )}
        </div>
      </div>
    </FormStateContext>
  )
}
