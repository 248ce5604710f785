import { type ComponentType, createContext, type ReactNode, useContext } from 'react'
import type { Names } from './names'
import type { Step } from './path'
import type { Field } from './schema'
import type { FormContext, FormIssue, Schema } from './types'

/** State shared by all fields of one form. */
export type FormState = {
  /** The whole schema, for resolving references. */
  root: Schema
  complete?: Names
  readOnly: boolean
  context: FormContext
  /** The field for a value of any schema. Lists, maps and objects get it from here, because it renders them in turn. */
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

/** Whether the name of the surrounding field is visible only to screen readers. */
export const HideLabelContext = createContext(false)

/** The props of every field. */
export type FieldProps = {
  schema: Schema
  /** The key or position of the value, for its name. */
  name: string
  /** Replaces the name derived from schema and key. */
  label?: string
  /** The name is visible only to screen readers, because the surroundings show it. */
  hideLabel?: boolean
  /** Small buttons beside the name, of the list or map that contains the value. */
  tools?: ReactNode
  /** The path of the value in the form. */
  path: readonly Step[]
  required: boolean
  value: unknown
  onChange: (value: unknown) => void
  /** Issues at or below the value; their paths start at it. */
  issues: readonly FormIssue[]
}

/** The props of a control for one kind of value. */
export type ControlProps = FieldProps & { field: Field; id: string; label: string; actions: ReactNode }
