import { isObject } from '../graph/map'
import { isNumber } from '../forms/values'
import { variablesText } from '../text/inspector'
import { commonText } from '../text/common'

export type VariableType = 'string' | 'number' | 'boolean' | 'json'

/** An environment variable being edited. Unknown members of the object are kept. */
export type Variable = {
  name: string
  type: VariableType
  description: string
  required: boolean
  secret: boolean
  hasDefault: boolean
  standard: unknown
}

export const variableTypes: { value: VariableType; label: string }[] = [
  { value: 'string', label: commonText.text },
  { value: 'number', label: commonText.number },
  { value: 'boolean', label: variablesText.yesOrNo },
  { value: 'json', label: commonText.json },
]

/** Names reserved by the server. */
export const reserved = ['inputData', 'input', 'nodes', 'item', 'index', 'execution', 'blueprint', 'trigger', 'now']

/** Parses environment_variables. An element that is not an object becomes a variable without a name. */
export function readVariables(list: readonly unknown[]): Variable[] {
  return list.map((element) => {
    const object = isObject(element) ? element : {}
    const type = variableTypes.find((one) => one.value === object.type)?.value ?? 'string'
    const secret = object.secret === true
    // null is a default only for JSON that is not secret; otherwise it means "none", or a stored secret.
    const hasDefault =
      Object.hasOwn(object, 'default') &&
      object.default !== undefined &&
      (object.default !== null || (type === 'json' && !secret))
    return {
      name: typeof object.name === 'string' ? object.name : '',
      type,
      description: typeof object.description === 'string' ? object.description : '',
      required: object.required === true,
      secret,
      hasDefault,
      standard: object.default,
    }
  })
}

/** The problem of a name among others; undefined for a valid one. */
export function nameFault(name: string, others: readonly string[]): string | undefined {
  if (name === '') return variablesText.enterAName
  if (!/^[A-Za-z0-9_]+$/.test(name)) return variablesText.useOnlyLettersDigitsAnd
  if (reserved.includes(name)) return variablesText.isReservedTheServerSetsIt(name)
  if (others.includes(name)) return variablesText.alreadyExists(name)
  return undefined
}

/** An unused name. */
export function freshName(taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'variable' : `variable_${number}`
    if (!taken.includes(name)) return name
  }
}

/** Reports whether a secret has a stored value: null represents one, and an empty text removes it. */
export function secretIsSet(element: unknown): boolean {
  return (
    isObject(element) && Object.hasOwn(element, 'default') && element.default !== '' && element.default !== undefined
  )
}

/** A default converted to another type, undefined if that is impossible. */
export function defaultAs(value: unknown, type: VariableType): unknown {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : undefined
    case 'number':
      return isNumber(value) ? value : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'json':
      return value ?? undefined
  }
}
