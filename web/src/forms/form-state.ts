import { type ComponentType, createContext, type ReactNode, useContext } from 'react'
import type { Names } from './names'
import type { Step } from './path'
import type { Field } from './schema'
import type { FormContext, FormIssue, Schema } from './types'

/** What all fields of one form share. */
export type FormState = {
  /** The whole schema, in which references are looked up. */
  root: Schema
  complete?: Names
  readOnly: boolean
  context: FormContext
  /** The field for a value of any schema. Lists, maps and objects get it from here, since it shows them in turn. */
  FieldView: ComponentType<FieldProps>
  onLeave?: (path: readonly Step[]) => void
}

export const FormStateContext = createContext<FormState | null>(null)

/** The state of the form around a field. */
export function useFormState(): FormState {
  const state = useContext(FormStateContext)
  if (!state) throw new Error('a field stands outside of any form')
  return state
}

/** Whether the name of the field around is for readers alone. */
export const HideLabelContext = createContext(false)

/** What every field is given. */
export type FieldProps = {
  schema: Schema
  /** The key or position that the value stands at, for its name. */
  name: string
  /** In place of the name that schema and key give. */
  label?: string
  /** The name is for readers alone: what stands around says it. */
  hideLabel?: boolean
  /** Small buttons beside the name, of the list or map that the value stands in. */
  tools?: ReactNode
  /** Where the value stands, from that of the form. */
  path: readonly Step[]
  required: boolean
  value: unknown
  onChange: (value: unknown) => void
  /** Issues at or below the value; their paths start at it. */
  issues: readonly FormIssue[]
}

/** What a control for one kind of value is given. */
export type ControlProps = FieldProps & { field: Field; id: string; label: string; actions: ReactNode }
