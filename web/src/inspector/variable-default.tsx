import { Button } from '@mantine/core'
import { useState } from 'react'
import { parseJson } from '../api/json'
import { about, Frame } from '../forms/frame'
import { SchemaForm } from '../forms/schema-form'
import { SecretInput } from '../forms/secret-input'
import type { FormIssue, Schema } from '../forms/types'
import { useNotApplied } from '../forms/unapplied'
import { readNumber } from '../forms/values'
import { checkJson } from '../parts/json-check'
import { secretIsSet, type Variable, type VariableType } from './variables'

type Props = {
  id: string
  element: Record<string, unknown>
  variable: Variable
  issues: readonly FormIssue[]
  readOnly: boolean
  /** Told the new default; undefined for none, which of a secret removes what is stored (null would keep it). */
  onChange: (value: unknown) => void
}

const schemas: Record<VariableType, Schema> = {
  string: { title: 'Default', type: 'string', maxLength: 10_000 },
  number: { title: 'Default', type: 'number' },
  boolean: { title: 'Default', type: 'boolean' },
  json: { title: 'Default', 'x-kind': 'json-schema' },
}

/** What a variable is when a run does not give it. A secret is only written. */
export function VariableDefault({ id, element, variable, issues, readOnly, onChange }: Props) {
  if (variable.secret) return <SecretDefault {...{ id, element, variable, issues, readOnly, onChange }} />
  return (
    <SchemaForm
      schema={schemas[variable.type]}
      value={variable.hasDefault ? variable.standard : undefined}
      onChange={onChange}
      issues={issues}
      readOnly={readOnly}
    />
  )
}

function SecretDefault({ id, element, variable, issues, readOnly, onChange }: Props) {
  // What is typed here stands here as long as the row does; what was stored before never does.
  const [typed, setTyped] = useState('')
  const [before] = useState(element.default)
  const set = secretIsSet(element)
  const fault = typed === '' ? undefined : faultOf(typed, variable.type)
  useNotApplied(noPath, '', fault) // a secret is kept nowhere but here
  const found = fault ? [{ path: [], message: fault }] : issues
  const type = (text: string) => {
    setTyped(text)
    if (text === '') onChange(before)
    else if (!faultOf(text, variable.type)) onChange(valueOf(text, variable.type))
  }
  const note =
    set && typed === ''
      ? 'A value is stored. It is not shown; type to replace it.'
      : typed !== ''
        ? 'Takes the place of what is stored when you save.'
        : before !== undefined && before !== ''
          ? 'The stored value is removed when you save.'
          : 'No value is stored: every run must be given one.'
  return (
    <Frame id={id} label="Value" issues={found} description={note}>
      <SecretInput {...about(id, found)} value={typed} onChange={type} stored={set} readOnly={readOnly} />
      {!readOnly && set && (
        <div>
          <Button
            mt={4}
            size="compact-xs"
            variant="subtle"
            color="red"
            onClick={() => {
              setTyped('')
              onChange(undefined)
            }}
          >
            Remove the stored value
          </Button>
        </div>
      )}
    </Frame>
  )
}

const noPath: string[] = []

function faultOf(text: string, type: VariableType): string | undefined {
  if (type === 'number' && readNumber(text) === undefined) return 'Not applied: not a number'
  if (type === 'boolean' && !/^(true|false)$/.test(text.trim())) return 'Not applied: type true or false'
  const bad = type === 'json' ? checkJson(text) : undefined
  return bad && `Not applied: invalid JSON (line ${bad.line}, column ${bad.column}: ${bad.message})`
}

function valueOf(text: string, type: VariableType): unknown {
  switch (type) {
    case 'number':
      return readNumber(text)
    case 'boolean':
      return text.trim() === 'true'
    case 'json':
      return parseJson(text)
    default:
      return text
  }
}
