import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { parseJson, show } from '../api/json'
import { checkJson } from '../parts/json-check'
import { type AnyKind, anyKindOf, anyKinds, turn } from './any-kind'
import { CodeBox } from './code-box'
import classes from './forms.module.css'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { sentence } from './issues'
import type { Step } from './path'
import { Preview } from './preview-line'
import { TemplateInput } from './template-input'
import type { FormIssue } from './types'
import { useKeptText, useNotApplied } from './unapplied'
import { isNumber, oneLine, readNumber, same } from './values'
import { anyFieldText } from '../text/forms'
import { commonText } from '../text/common'

/** A value of any kind, which the user chooses. */
export function AnyField(props: ControlProps) {
  const { field, id, label, value, onChange, issues, required, actions } = props
  const { complete, readOnly } = useFormState()
  const [chosen, setChosen] = useState<AnyKind>()
  const kind = chosen === 'json' && value !== undefined ? 'json' : anyKindOf(value)
  const unnamed = props.hideLabel === true // in a row of key and value, where the key is the name
  const shown = kind === 'none' && (unnamed || required) ? 'text' : kind
  const kinds = required ? anyKinds.filter((one) => one.value !== 'none') : anyKinds
  const select = readOnly ? null : (
    <NativeSelect
      size="xs"
      aria-label={anyFieldText.typeOf(label)}
      data={kinds}
      value={shown}
      className={classes.kindSelect}
      onChange={(event) => {
        const next = event.currentTarget.value as AnyKind
        setChosen(next)
        onChange(turn(value, next))
      }}
    />
  )
  const lines: FormIssue[] = issues.map((issue) => ({ ...issue, message: sentence(issue), path: [] }))
  const said = about(id, lines, required)
  const text = typeof value === 'string' ? value : ''
  const placeholder = field.hasDefault ? oneLine(field.standard) : undefined
  let control: React.ReactNode
  switch (shown) {
    case 'text':
      control = (
        <>
          <TemplateInput
            {...said}
            value={text}
            onChange={onChange}
            names={complete}
            lines
            rows={1}
            readOnly={readOnly}
            placeholder={placeholder}
          />
          <Preview text={text} language="template" names={complete} />
        </>
      )
      break
    case 'number':
      control = <NumberBox {...said} path={props.path} value={value} onChange={onChange} readOnly={readOnly} />
      break
    case 'boolean':
      control = (
        <Checkbox
          {...said}
          label={commonText.yes}
          checked={value === true}
          disabled={readOnly}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
      break
    case 'json':
      control = <JsonBox {...said} path={props.path} value={value} onChange={onChange} readOnly={readOnly} />
      break
    case 'null':
      control = (
        <span id={id} className={classes.nothing}>
          {anyFieldText.null}
        </span>
      )
      break
    default:
      control = readOnly ? <span className={classes.nothing}>{commonText.notSet}</span> : null
  }
  const single = shown !== 'none' && shown !== 'null'
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={field.description}
      issues={lines}
      group={!single}
      actions={
        unnamed ? (
          actions
        ) : (
          <>
            {select}
            {actions}
          </>
        )
      }
    >
      {unnamed ? (
        <div className={classes.row} data-stacked={shown === 'json' || undefined}>
          <div className={classes.grow}>{control}</div>
          {select && <div className={classes.kind}>{select}</div>}
        </div>
      ) : (
        control
      )}
    </Frame>
  )
}

type BoxProps = ReturnType<typeof about> & {
  path: readonly Step[]
  value: unknown
  onChange: (value: unknown) => void
  readOnly: boolean
}

function NumberBox({ path, value, onChange, ...props }: BoxProps) {
  const before = useKeptText(path)
  const [draft, setDraft] = useState(before ?? (isNumber(value) ? oneLine(value) : ''))
  const bad = readNumber(draft) === undefined
  const shown = bad || same(readNumber(draft), value) ? draft : oneLine(value)
  useNotApplied(path, draft, bad ? anyFieldText.notAppliedNotANumber : undefined)
  return (
    <TextInput
      {...props}
      inputMode="decimal"
      value={shown}
      error={bad ? anyFieldText.notAppliedNotANumber : props['aria-invalid']}
      onChange={(event) => {
        setDraft(event.currentTarget.value)
        const next = readNumber(event.currentTarget.value)
        if (next !== undefined) onChange(next)
      }}
    />
  )
}

/**
 * A JSON value as text. Invalid JSON is marked as not applied and not passed to onChange; an empty text becomes
 * undefined if that is allowed.
 */
export function JsonBox({
  path,
  value,
  onChange,
  readOnly,
  optional = false,
  rows = 3,
  ...props
}: BoxProps & { optional?: boolean; rows?: number }) {
  const before = useKeptText(path)
  const [draft, setDraft] = useState(() => before ?? (value === undefined ? '' : show(value)))
  const empty = draft.trim() === ''
  const fault = empty ? undefined : checkJson(draft)
  const means = fault || empty ? undefined : parseJson(draft)
  const [kept, setKept] = useState(value)
  // Changed elsewhere: show the new value.
  if (!same(kept, value)) {
    setKept(value)
    if (!same(means, value)) setDraft(value === undefined ? '' : show(value))
  }
  const message = fault
    ? anyFieldText.notAppliedInvalidJsonLine(fault.line, fault.column, fault.message)
    : empty && !optional
      ? anyFieldText.notAppliedAJsonValueIs
      : undefined
  useNotApplied(path, draft, message)
  return (
    <CodeBox
      {...props}
      aria-invalid={message !== undefined || props['aria-invalid']}
      value={draft}
      rows={rows}
      readOnly={readOnly}
      errorLine={fault?.line}
      message={message}
      onFormat={fault || empty ? undefined : () => setDraft(show(parseJson(draft)))}
      onChange={(text) => {
        setDraft(text)
        if (text.trim() === '') {
          if (optional) {
            setKept(undefined)
            onChange(undefined)
          }
        } else if (!checkJson(text)) {
          const next = parseJson(text)
          setKept(next)
          onChange(next)
        }
      }}
    />
  )
}
