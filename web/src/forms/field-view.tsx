import { ActionIcon, Tooltip } from '@mantine/core'
import { IconBraces, IconX } from '@tabler/icons-react'
import { useId, useMemo, useState } from 'react'
import { AnyField } from './any-field'
import { BlueprintField } from './blueprint-field'
import { BooleanField, ChoiceField } from './choice-field'
import { CodeField } from './code-field'
import { ConnectionField, ConnectionsField } from './connection-field'
import { DurationField } from './duration-field'
import { type ControlProps, type FieldProps, HideLabelContext, useFormState } from './form-state'
import { Frame } from './frame'
import { JsonField } from './json-field'
import { ListField } from './list-field'
import { MapField } from './map-field'
import { NumberField } from './number-field'
import { ObjectField } from './object-field'
import { type Field, fieldOf, isLongText, titleOfField } from './schema'
import { SuggestedField } from './suggested-field'
import { DateField, SecretField, TextField } from './text-field'
import { TemplateField } from './template-field'
import { VariantsField } from './variants-field'
import { isNumber, isObject, same } from './values'
import { fieldViewText } from '../text/forms'
import { commonText } from '../text/common'

const text = new Set(['text', 'date', 'date-time', 'secret'])

/** The field for a value of any schema. */
export function FieldView(props: FieldProps) {
  const { schema, name, required, value, onChange } = props
  const { root, complete, readOnly, onLeave } = useFormState()
  const id = useId()
  const field = useMemo(() => fieldOf(schema, root, name), [schema, root, name])
  const label = props.label ?? titleOfField(field, name)
  const written = complete !== undefined && typeof value === 'string' && value.includes('{{')
  const [chosen, setChosen] = useState(false) // the user switched to a template, which is still empty
  // A text field accepts templates anyway and needs no switch.
  const switchable = complete !== undefined && field.template && !text.has(field.kind) && field.kind !== 'any'
  const template = switchable && (written || (chosen && (value === undefined || typeof value === 'string')))
  const toggle = () => {
    setChosen(!template)
    if (template || value !== undefined) onChange(undefined)
  }
  const clearable =
    !required &&
    value !== undefined &&
    !(field.kind === 'text' && value !== '') &&
    field.kind !== 'boolean' &&
    field.kind !== 'choice'
  const actions =
    readOnly || (!switchable && !clearable && !props.tools) ? null : (
      <>
        {switchable && (
          <Tooltip label={template ? fieldViewText.useAFixedValue : fieldViewText.useATemplate}>
            <ActionIcon
              size={26}
              variant={template ? 'light' : 'subtle'}
              color={template ? undefined : 'gray'}
              aria-label={fieldViewText.template(label)}
              aria-pressed={template}
              onClick={toggle}
            >
              <IconBraces size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
        {clearable && (
          <Tooltip label={commonText.clear}>
            <ActionIcon
              size={26}
              aria-label={fieldViewText.clear(label)}
              onClick={() => {
                setChosen(false)
                onChange(undefined)
              }}
            >
              <IconX size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
        {props.tools}
      </>
    )
  const control: ControlProps = { ...props, field, id, label, actions }
  return (
    <div
      data-field={props.path.join('.')}
      onBlur={
        onLeave &&
        ((event) => {
          if (!event.currentTarget.contains(event.relatedTarget)) onLeave(props.path)
        })
      }
    >
      <HideLabelContext value={props.hideLabel ?? false}>
        {template ? <TemplateField {...control} lines={false} /> : <Control {...control} />}
      </HideLabelContext>
    </div>
  )
}

function Control(props: ControlProps) {
  const { field, value } = props
  const { complete } = useFormState()
  // A value that does not fit the control is edited as a value of any kind.
  if (!fits(field, value)) return <AnyField {...props} />
  switch (field.kind) {
    case 'text':
      if (field.suggestions) return <SuggestedField {...props} />
      return complete ? <TemplateField {...props} lines={isLongText(field, props.name)} /> : <TextField {...props} />
    case 'secret':
      return <SecretField {...props} />
    case 'date':
    case 'date-time':
      return complete ? <TemplateField {...props} lines={false} /> : <DateField {...props} />
    case 'expression':
      return <TemplateField {...props} lines language="expression" />
    case 'number':
      return <NumberField {...props} />
    case 'duration':
      return <DurationField {...props} />
    case 'boolean':
      return <BooleanField {...props} />
    case 'choice':
      return <ChoiceField {...props} />
    case 'list':
      return <ListField {...props} />
    case 'object':
      return <ObjectField {...props} />
    case 'map':
      return <MapField {...props} />
    case 'variants':
      return <VariantsField {...props} />
    case 'connection':
      return <ConnectionField {...props} />
    case 'connections':
      return <ConnectionsField {...props} />
    case 'blueprint':
      return <BlueprintField {...props} />
    case 'code':
      return <CodeField {...props} />
    case 'json-schema':
      return <JsonField {...props} />
    case 'constant':
      return <ConstantField {...props} />
    default:
      return <AnyField {...props} />
  }
}

// A constant is set when its object is created; this only shows it, and offers to correct a different value.
function ConstantField({ field, id, label, value, onChange, actions, issues, required }: ControlProps) {
  const { readOnly } = useFormState()
  const wanted = field.schema.const
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={field.description}
      issues={issues}
      actions={actions}
      group
    >
      {readOnly || same(value, wanted) ? (
        <code>{JSON.stringify(readOnly ? value : wanted) ?? commonText.notSet}</code>
      ) : (
        <button type="button" onClick={() => onChange(wanted)}>
          {fieldViewText.setTo(JSON.stringify(wanted))}
        </button>
      )}
    </Frame>
  )
}

function fits(field: Field, value: unknown): boolean {
  if (value === undefined || (value === null && field.kind === 'secret')) return true
  switch (field.kind) {
    case 'secret':
      return value === null || typeof value === 'string'
    case 'text':
    case 'date':
    case 'date-time':
    case 'expression':
    case 'code':
    case 'connection':
    case 'blueprint':
      return typeof value === 'string'
    case 'number':
    case 'duration':
      return isNumber(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'list':
    case 'connections':
      return Array.isArray(value)
    case 'object':
    case 'map':
      return isObject(value)
    default:
      return true
  }
}
