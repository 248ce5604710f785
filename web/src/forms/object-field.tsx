import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useFormState, type FieldProps } from './form-state'
import classes from './forms.module.css'
import { Frame } from './frame'
import { below, split } from './issues'
import type { Step } from './path'
import { type Field, fieldOf, titleOfField } from './schema'
import { startOf } from './start'
import type { FormIssue, Schema } from './types'
import { isObject, oneLine, same, withMember } from './values'
import { objectFieldText } from '../text/forms'
import { commonText } from '../text/common'

type Members = {
  field: Field
  path: readonly Step[]
  value: Record<string, unknown>
  onChange: (value: unknown) => void
  issues: readonly FormIssue[]
  hide?: readonly string[]
}

/** The fields of an object's members, and below them the members that the schema does not name. */
export function MemberFields({ field, path, value, onChange, issues, hide = [] }: Members) {
  const { FieldView, root } = useFormState()
  // A constant with its value is not shown: it distinguishes alternatives, and the chooser above shows that.
  const said = (key: string, schema: Schema) => {
    const one = fieldOf(schema, root, key)
    return one.kind === 'constant' && same(value[key], one.schema.const)
  }
  const members = (field.properties ?? []).filter(({ key, schema }) => !hide.includes(key) && !said(key, schema))
  const named = new Set((field.properties ?? []).map(({ key }) => key))
  const others = Object.keys(value).filter((key) => !named.has(key) && !hide.includes(key))
  return (
    <>
      {members.map(({ key, schema, required }) => (
        <FieldView
          key={key}
          schema={schema}
          name={key}
          path={[...path, key]}
          required={required}
          value={Object.hasOwn(value, key) ? value[key] : undefined}
          onChange={(next) => onChange(withMember(value, key, next))}
          issues={below(issues, key)}
        />
      ))}
      {others.length > 0 && <Others keys={others} path={path} value={value} onChange={onChange} issues={issues} />}
    </>
  )
}

function Others({ keys, path, value, onChange, issues }: { keys: string[] } & Omit<Members, 'field' | 'hide'>) {
  const { readOnly } = useFormState()
  const id = `other-${path.join('-')}`
  return (
    <Frame id={id} label={objectFieldText.otherValues} group description={objectFieldText.fieldsThatThisFormDoesNot}>
      <div className={classes.inside}>
        {keys.map((key) => (
          <div key={key} className={classes.row}>
            <div className={`${classes.grow} ${classes.mono}`}>
              {key}: {oneLine(value[key]).slice(0, 200)}
              {below(issues, key).map((issue) => (
                <div key={issue.message} className={classes.error}>
                  {issue.message}
                </div>
              ))}
            </div>
            {!readOnly && (
              <Tooltip label={commonText.remove}>
                <ActionIcon
                  size="md"
                  aria-label={objectFieldText.remove(key)}
                  onClick={() => onChange(withMember(value, key, undefined))}
                >
                  <IconTrash size={16} aria-hidden />
                </ActionIcon>
              </Tooltip>
            )}
          </div>
        ))}
      </div>
    </Frame>
  )
}

/** An object within a form: its members, or a button that creates it. */
export function ObjectField({
  field,
  id,
  actions,
  ...props
}: FieldProps & { field: Field; id: string; actions?: React.ReactNode }) {
  const { readOnly, root } = useFormState()
  const { name, label, path, required, value, onChange, issues } = props
  const there = isObject(value)
  return (
    <Frame
      id={id}
      label={label ?? titleOfField(field, name)}
      required={required && !props.tools}
      description={field.description}
      issues={there ? split(issues).own : issues}
      actions={actions}
      group
    >
      {there ? (
        <div className={classes.inside}>
          <MemberFields field={field} path={path} value={value} onChange={onChange} issues={issues} />
        </div>
      ) : (
        <div className={classes.addRow}>
          {readOnly ? (
            <span className={classes.nothing}>{commonText.notSet}</span>
          ) : (
            <Button
              variant="default"
              size="xs"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => onChange(startOf(props.schema, root) ?? {})}
            >
              {objectFieldText.set((label ?? titleOfField(field, name)).toLowerCase())}
            </Button>
          )}
        </div>
      )}
    </Frame>
  )
}
