import type { FieldsProps } from './fields'
import { kinds } from './kinds'
import type { TriggerType } from './types'

/** The fields of a type. */
export function TypeFields({ type, ...props }: FieldsProps & { type: TriggerType }) {
  const Form = kinds[type].form
  return Form && <Form {...props} />
}
