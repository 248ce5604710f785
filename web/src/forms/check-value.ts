import { fieldOf } from './schema'
import type { FormIssue, Schema } from './types'
import { isNumber, isObject, oneLine, same } from './values'
import { checkValueText } from '../text/forms'

/**
 * Returns the obvious faults of a value before it is sent: missing, too long, too small, of the wrong type. The server
 * checks the whole schema; this only saves a round trip. Patterns are left to the server: the author of the schema is
 * not trusted, and a bad pattern can hang the browser.
 */
export function checkValue(
  schema: Schema,
  value: unknown,
  root: Schema = schema,
  path: (string | number)[] = [],
  required = false,
): FormIssue[] {
  const field = fieldOf(schema, root, String(path.at(-1) ?? ''))
  const wrong = (message: string): FormIssue[] => [{ path, message }]
  if (value === undefined) return required ? wrong(checkValueText.required) : []
  if (value === null && field.nullable) return []
  const rules = field.schema
  switch (field.kind) {
    case 'text':
    case 'secret':
    case 'date':
    case 'date-time':
      return typeof value === 'string' ? ofText(rules, value).flatMap(wrong) : wrong(checkValueText.mustBeText)
    case 'number':
    case 'duration':
      return isNumber(value) ? ofNumber(rules, value, field.whole).flatMap(wrong) : wrong(checkValueText.mustBeANumber)
    case 'boolean':
      return typeof value === 'boolean' ? [] : wrong(checkValueText.mustBeYesOrNo)
    case 'choice':
      return field.choices?.some((choice) => same(choice.value, value))
        ? []
        : wrong(checkValueText.mustBeOneOfTheChoices)
    case 'list': {
      if (!Array.isArray(value)) return wrong(checkValueText.mustBeAList)
      const items = value
        .slice(0, 200)
        .flatMap((item, index) => checkValue(field.items ?? true, item, root, [...path, index], true))
      return [...bounds(value.length, rules.minItems, rules.maxItems, 'item').flatMap(wrong), ...items]
    }
    case 'object': {
      if (!isObject(value)) return wrong(checkValueText.mustBeAnObject)
      return (field.properties ?? []).flatMap(({ key, schema: member, required: must }) =>
        checkValue(member, Object.hasOwn(value, key) ? value[key] : undefined, root, [...path, key], must),
      )
    }
    case 'map':
      return isObject(value) ? [] : wrong(checkValueText.mustBeAnObject)
    default:
      return []
  }
}

function ofText(rules: Record<string, unknown>, value: string): string[] {
  const found = bounds([...value].length, rules.minLength, rules.maxLength, 'character')
  if (rules.format === 'email' && !/^[^\s@]+@[^\s@]+$/.test(value)) found.push(checkValueText.mustBeAnEmailAddress)
  if (rules.format === 'uri' && !/^[a-z][a-z0-9+.-]*:\S*$/i.test(value)) found.push(checkValueText.mustBeAUrlForExample)
  return found
}

function ofNumber(rules: Record<string, unknown>, value: unknown, whole?: boolean): string[] {
  const number = Number(oneLine(value))
  const found: string[] = []
  if (whole && !Number.isInteger(number)) found.push(checkValueText.mustBeAWholeNumber)
  if (isNumber(rules.minimum) && number < Number(oneLine(rules.minimum)))
    found.push(checkValueText.mustBeAtLeast(oneLine(rules.minimum)))
  if (isNumber(rules.maximum) && number > Number(oneLine(rules.maximum)))
    found.push(checkValueText.mustBeAtMost(oneLine(rules.maximum)))
  if (isNumber(rules.exclusiveMinimum) && number <= Number(oneLine(rules.exclusiveMinimum)))
    found.push(checkValueText.mustBeGreaterThan(oneLine(rules.exclusiveMinimum)))
  if (isNumber(rules.exclusiveMaximum) && number >= Number(oneLine(rules.exclusiveMaximum)))
    found.push(checkValueText.mustBeLessThan(oneLine(rules.exclusiveMaximum)))
  return found
}

function bounds(size: number, least: unknown, most: unknown, of: string): string[] {
  const count = (n: number) => `${n} ${of}${n === 1 ? '' : 's'}`
  if (typeof least === 'number' && size < least)
    return [size === 0 && least === 1 ? checkValueText.mustNotBeEmpty : checkValueText.mustHaveAtLeast(count(least))]
  if (typeof most === 'number' && size > most) return [checkValueText.mustHaveAtMost(count(most))]
  return []
}
