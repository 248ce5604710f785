import { checkJson } from '../parts/json-check'
import { parseJson } from '../api/json'
import { isNumber, oneLine, readNumber } from './values'
import { anyKindText } from '../text/forms'
import { commonText } from '../text/common'

/** The controls for a value of any kind. */
export type AnyKind = 'none' | 'text' | 'number' | 'boolean' | 'null' | 'json'

export const anyKinds: { value: AnyKind; label: string }[] = [
  { value: 'none', label: commonText.notSet },
  { value: 'text', label: commonText.text },
  { value: 'number', label: commonText.number },
  { value: 'boolean', label: anyKindText.yesOrNo },
  { value: 'json', label: commonText.json },
  { value: 'null', label: anyKindText.null },
]

/** The control that best shows a value. */
export function anyKindOf(value: unknown): AnyKind {
  if (value === undefined) return 'none'
  if (value === null) return 'null'
  if (typeof value === 'string') return 'text'
  if (isNumber(value)) return 'number'
  return typeof value === 'boolean' ? 'boolean' : 'json'
}

/** The value converted to another kind, as far as possible. */
export function turn(value: unknown, to: AnyKind): unknown {
  switch (to) {
    case 'none':
      return undefined
    case 'null':
      return null
    case 'text':
      return value === undefined || value === null ? '' : oneLine(value)
    case 'number':
      return isNumber(value) ? value : (readNumber(typeof value === 'string' ? value : '') ?? 0)
    case 'boolean':
      return value === true || value === 'true'
    case 'json': {
      if (typeof value === 'object' && value !== null) return value
      // Text that is itself an object or a list was probably meant as JSON.
      if (typeof value === 'string' && /^\s*[[{]/.test(value) && !checkJson(value)) return parseJson(value)
      return value === undefined || value === '' || value === null ? {} : value
    }
  }
}
