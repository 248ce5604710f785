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
import { variableDefaultText } from '../text/inspector'

type Props = {
  id: string
  element: Record<string, unknown>
  variable: Variable
  issues: readonly FormIssue[]
  readOnly: boolean
  /**
   * Called with the new default; undefined for none, which for a secret removes the stored value (null would keep it).
   */
  onChange: (value: unknown) => void
}

const schemas: Record<VariableType, Schema> = {
  string: { title: variableDefaultText.default, type: 'string', maxLength: 10_000 },
  number: { title: variableDefaultText.default, type: 'number' },
  boolean: { title: variableDefaultText.default, type: 'boolean' },
  json: { title: variableDefaultText.default, 'x-kind': 'json-schema' },
}

/** The value of a variable that a run does not set. A secret can only be written. */
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
  // Typed text stays while the row exists; the stored value is never shown.
  const [typed, setTyped] = useState('')
  const [before] = useState(element.default)
  const set = secretIsSet(element)
  const fault = typed === '' ? undefined : faultOf(typed, variable.type)
  useNotApplied(noPath, '', fault) // a secret is kept only here
  const found = fault ? [{ path: [], message: fault }] : issues
  const type = (text: string) => {
    setTyped(text)
    if (text === '') onChange(before)
    else if (!faultOf(text, variable.type)) onChange(valueOf(text, variable.type))
  }
  const note =
    set && typed === ''
      ? variableDefaultText.aValueIsStoredButNot
      : typed !== ''
        ? variableDefaultText.replacesTheStoredValueWhenYou
        : before !== undefined && before !== ''
          ? variableDefaultText.theStoredValueIsRemovedWhen
          : variableDefaultText.noValueIsStoredEveryRun
  return (
    <Frame id={id} label={variableDefaultText.value} issues={found} description={note}>
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
            {variableDefaultText.removeStoredValue}
          </Button>
        </div>
      )}
    </Frame>
  )
}

const noPath: string[] = []

function faultOf(text: string, type: VariableType): string | undefined {
  if (type === 'number' && readNumber(text) === undefined) return variableDefaultText.notAppliedNotANumber
  if (type === 'boolean' && !/^(true|false)$/.test(text.trim())) return variableDefaultText.notAppliedEnterTrueOrFalse
  const bad = type === 'json' ? checkJson(text) : undefined
  return bad && variableDefaultText.notAppliedInvalidJsonLine(bad.line, bad.column, bad.message)
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
