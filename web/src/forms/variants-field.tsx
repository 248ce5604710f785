import { NativeSelect } from '@mantine/core'
import { useMemo, useState } from 'react'
import { type ControlProps, useFormState } from './form-state'
import classes from './forms.module.css'
import { about, Frame } from './frame'
import { split } from './issues'
import { MemberFields } from './object-field'
import { fieldOf } from './schema'
import { startOf } from './start'
import { isObject } from './values'
import { variantOf } from './variant'
import { commonText } from '../text/common'

/** A value of one of several schemas: the user chooses one, and its fields follow. */
export function VariantsField({
  field,
  id,
  name,
  label,
  path,
  value,
  onChange,
  issues,
  required,
  actions,
}: ControlProps) {
  const { FieldView, readOnly, root } = useFormState()
  const variants = useMemo(() => field.variants ?? [], [field.variants])
  const found = useMemo(() => variantOf(variants, value, root), [variants, value, root])
  const [chosen, setChosen] = useState<number>()
  const at =
    value === undefined ? chosen : chosen !== undefined && found.includes(chosen) ? chosen : (found[0] ?? chosen)
  const one = at === undefined ? undefined : variants[at]
  const data = variants.map(({ title }, index) => ({ value: String(index), label: title }))
  if (at === undefined || !required)
    data.unshift({ value: '', label: required ? commonText.choose : commonText.notSet })
  const inner = useMemo(() => one && fieldOf(one.schema, root), [one, root])
  const members = inner?.kind === 'object' && isObject(value) ? inner : undefined
  // An alternative without its own members, such as "none", has nothing to show.
  const bare = members?.properties?.every(({ key, schema }) => fieldOf(schema, root, key).kind === 'constant')
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={field.description}
      issues={one && !members ? [] : split(issues).own}
      actions={actions}
    >
      <NativeSelect
        {...about(id, issues, required)}
        data={data}
        value={at === undefined ? '' : String(at)}
        disabled={readOnly}
        onChange={(event) => {
          const next = event.currentTarget.value === '' ? undefined : Number(event.currentTarget.value)
          setChosen(next)
          onChange(next === undefined ? undefined : startOf(variants[next]!.schema, root))
        }}
      />
      {one &&
        members &&
        (bare && split(issues).within.length === 0 ? null : (
          <div className={classes.inside}>
            <MemberFields
              key={at}
              field={members}
              path={path}
              value={value as Record<string, unknown>}
              onChange={onChange}
              issues={issues}
            />
          </div>
        ))}
      {one && !members && (
        <div className={classes.inside}>
          <FieldView
            key={at}
            schema={one.schema}
            name={name}
            label={one.title}
            path={path}
            required
            value={value}
            onChange={onChange}
            issues={issues}
          />
        </div>
      )}
    </Frame>
  )
}
