import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { show } from '../../test/render'
import { SchemaForm } from './schema-form'
import type { FormIssue, Schema } from './types'

/** Shows a form that begins with a value; `value()` is what it has become. */
function fill(schema: Schema, start: unknown, issues: FormIssue[] = []) {
  let current = start
  function Form() {
    const [value, setValue] = useState(start)
    const change = (next: unknown) => {
      current = next
      setValue(next)
    }
    return <SchemaForm schema={schema} value={value} onChange={change} issues={issues} />
  }
  show(<Form />)
  return { user: userEvent.setup(), value: () => current }
}

const order = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    count: { type: 'integer' },
    urgent: { type: 'boolean' },
    size: { enum: ['small', 'large'] },
    tags: { type: 'array', items: { type: 'string' } },
    prices: { type: 'object', additionalProperties: { type: 'number' } },
  },
}

test('each field changes its own member; what the form does not know is kept', async () => {
  const { user, value } = fill(order, { name: 'a', unknown: 1 })
  await user.type(screen.getByRole('textbox', { name: 'Name' }), 'bc')
  await user.type(screen.getByRole('textbox', { name: 'Count' }), '12')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Size' }), 'large')
  expect(value()).toEqual({ name: 'abc', unknown: 1, count: 12, size: 'large' })
})

test('text that is no number says so and is no value', async () => {
  const { user, value } = fill(order, { name: 'a', count: 3 })
  const count = screen.getByRole('textbox', { name: 'Count' })
  await user.type(count, 'x')
  expect(count).toHaveProperty('value', '3x')
  expect(value()).toEqual({ name: 'a' })
  expect(count.getAttribute('aria-invalid')).toBe('true')
  screen.getByText(/^Not applied/)
})

test('items of a list are added, moved and removed with what they hold', async () => {
  const { user, value } = fill(order, { tags: ['one', 'two'] })
  const tags = within(screen.getByRole('group', { name: 'Tags' }))
  await user.click(tags.getByRole('button', { name: 'Add tag' }))
  expect(document.activeElement).toBe(tags.getByRole('textbox', { name: 'Tag 3' }))
  await user.keyboard('three')
  await user.click(tags.getByRole('button', { name: 'Move Tag 3 up' }))
  expect(value()).toEqual({ tags: ['one', 'three', 'two'] })
  await user.click(tags.getByRole('button', { name: 'Remove Tag 1' }))
  expect(value()).toEqual({ tags: ['three', 'two'] })
  expect(tags.getAllByRole('textbox').map((box) => (box as HTMLInputElement).value)).toEqual(['three', 'two'])
})

test('a key that exists is not taken twice', async () => {
  const { user, value } = fill(order, { prices: { apple: 1, pear: 2 } })
  const key = screen.getAllByPlaceholderText('key')[1]!
  await user.clear(key)
  await user.type(key, 'apple')
  await user.tab()
  screen.getByText('Not applied: this key exists already')
  expect(value()).toEqual({ prices: { apple: 1, pear: 2 } })
  await user.clear(key)
  await user.type(key, 'plum{Enter}')
  expect(value()).toEqual({ prices: { apple: 1, plum: 2 } })
})

test('an issue stands at its field', () => {
  fill(order, { name: '' }, [{ path: ['name'], message: 'must not be empty' }])
  const name = screen.getByRole('textbox', { name: 'Name' })
  expect(name.getAttribute('aria-invalid')).toBe('true')
  screen.getByText(/must not be empty/i)
})
