import { fireEvent, screen, within } from '@testing-library/react'
import { useState } from 'react'
import { describe, expect, test } from 'vitest'
import { show } from '../../test/render'
import { serve } from '../../test/server'
import { fieldOf, type Kind } from './schema'
import { SchemaForm } from './schema-form'
import type { FormIssue, Schema, SchemaFormProps } from './types'

/** Renders a form with a value; `value()` returns its current value. */
function fill(schema: Schema, start: unknown, more: Partial<SchemaFormProps> = {}) {
  let current = start
  function Form() {
    const [value, setValue] = useState(start)
    const change = (next: unknown) => {
      current = next
      setValue(next)
    }
    return <SchemaForm schema={schema} value={value} onChange={change} {...more} />
  }
  return { user: show(<Form />), value: () => current }
}

type User = ReturnType<typeof show>
type Field = ReturnType<typeof within>
type Example = {
  schema: Schema
  /** The initial value; absent means undefined. */
  start?: unknown
  edit: (user: User, field: Field) => Promise<void>
  becomes: unknown
}

const typing =
  (text: string) =>
  async (user: User, field: Field): Promise<void> =>
    user.type(field.getByRole('textbox'), text)
const writing =
  (text: string) =>
  async (_user: User, field: Field): Promise<void> =>
    void fireEvent.change(field.getByRole('textbox'), { target: { value: text } })
const setting =
  (name: string, text: string) =>
  async (_user: User, field: Field): Promise<void> =>
    void fireEvent.change(field.getByLabelText(name), { target: { value: text } })
const choosing = (name: string) => async (user: User, field: Field) =>
  user.selectOptions(field.getByRole('combobox'), name)
const picking = (name: string) => async (user: User, field: Field) => {
  await user.click(field.getByRole('combobox'))
  await user.click(await screen.findByRole('option', { name }))
}

/** An example of each kind of field; a missing kind does not compile. */
const examples: Record<Kind, Example> = {
  text: { schema: { type: 'string' }, start: 'a', edit: typing('b'), becomes: 'ab' },
  number: { schema: { type: 'number' }, edit: typing('1.5'), becomes: 1.5 },
  boolean: { schema: { type: 'boolean' }, edit: choosing('No'), becomes: false },
  choice: {
    schema: { enum: ['small', 'large'], 'x-labels': ['Small', 'Large'] },
    edit: choosing('Large'),
    becomes: 'large',
  },
  date: { schema: { type: 'string', format: 'date' }, edit: setting('Field', '2026-03-01'), becomes: '2026-03-01' },
  'date-time': {
    schema: { type: 'string', format: 'date-time' },
    edit: setting('Field', '2026-03-01T12:30:00'),
    becomes: new Date('2026-03-01T12:30:00').toISOString(),
  },
  secret: {
    schema: { type: 'string', writeOnly: true },
    start: null,
    edit: setting('Field', 'swordfish'),
    becomes: 'swordfish',
  },
  list: {
    schema: { type: 'array', items: { type: 'string' } },
    edit: async (user, field) => {
      await user.click(field.getByRole('button', { name: 'Add field' }))
      await user.type(field.getByRole('textbox'), 'one')
    },
    becomes: ['one'],
  },
  object: {
    schema: { type: 'object', properties: { inner: { type: 'string' } } },
    edit: async (user, field) => {
      await user.click(field.getByRole('button', { name: 'Set field' }))
      await user.type(field.getByRole('textbox', { name: 'Inner' }), 'x')
    },
    becomes: { inner: 'x' },
  },
  map: {
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    edit: async (user, field) => {
      await user.click(field.getByRole('button', { name: 'Add key' }))
      await user.keyboard('accept{Enter}')
      await user.type(field.getByRole('textbox', { name: 'Value of accept' }), 'x')
    },
    becomes: { accept: 'x' },
  },
  variants: {
    schema: {
      oneOf: [
        { title: 'A day', type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
        { title: 'A count', type: 'object', properties: { count: { type: 'number' } }, required: ['count'] },
      ],
    },
    edit: async (user, field) => {
      await user.selectOptions(field.getByRole('combobox'), 'A count')
      await user.type(field.getByRole('textbox', { name: 'Count' }), '3')
    },
    becomes: { count: 3 },
  },
  constant: {
    schema: { const: 'v1' },
    start: 'v0',
    edit: async (user, field) => user.click(field.getByRole('button', { name: 'Set to "v1"' })),
    becomes: 'v1',
  },
  any: {
    schema: {},
    edit: async (user, field) => {
      await user.selectOptions(field.getByRole('combobox', { name: 'Type of Field' }), 'JSON')
      fireEvent.change(field.getByRole('textbox'), { target: { value: '[1, null]' } })
    },
    becomes: [1, null],
  },
  expression: {
    schema: { type: 'string', 'x-kind': 'expression' },
    edit: writing('input.a > 1'),
    becomes: 'input.a > 1',
  },
  code: { schema: { type: 'string', 'x-kind': 'code' }, edit: writing('return 1'), becomes: 'return 1' },
  'json-schema': {
    schema: { 'x-kind': 'json-schema' },
    edit: writing('{"type": "object"}'),
    becomes: { type: 'object' },
  },
  connection: {
    schema: { type: 'string', 'x-kind': 'connection', 'x-connection-types': ['slack'] },
    edit: picking('Shop'),
    becomes: 'c1',
  },
  connections: {
    schema: { type: 'array', 'x-kind': 'connection', 'x-connection-types': ['slack'] },
    start: ['c1'],
    edit: picking('Office'),
    becomes: ['c1', 'c2'],
  },
  blueprint: { schema: { type: 'string', 'x-kind': 'blueprint-id' }, edit: picking('Ship the orders'), becomes: 'b2' },
  duration: {
    schema: { type: 'number', 'x-kind': 'duration-ms' },
    start: 60_000,
    edit: async (user, field) => user.selectOptions(field.getByRole('combobox'), 'hours'),
    becomes: 3_600_000,
  },
}

describe.each(Object.entries(examples) as [Kind, Example][])('a field of kind %s', (kind, example) => {
  const schema: Schema = {
    type: 'object',
    properties: { field: example.schema, other: { type: 'string' } },
  }
  const start = example.start === undefined ? {} : { field: example.start }
  const open = (more?: Partial<SchemaFormProps>) => {
    serve({
      'connection.list': () =>
        [
          { id: 'c1', name: 'Shop', type: 'slack' },
          { id: 'c2', name: 'Office', type: 'slack' },
          { id: 'c3', name: 'Mail', type: 'smtp' },
        ].map((one) => ({ ...one, organizationId: null })),
      'blueprint.listSummaries': () => ({ data: [{ id: 'b2', title: 'Ship the orders' }] }),
      'blueprint.get': () => ({ title: 'Ship the orders' }),
    })
    const form = fill(schema, start, more)
    const element = document.querySelector<HTMLElement>('[data-field="field"]')!
    return { ...form, element, field: within(element) }
  }

  test('is edited', async () => {
    expect(fieldOf(example.schema, schema, 'field').kind).toBe(kind)
    const { user, field, value } = open()
    await example.edit(user, field)
    expect(value()).toEqual({ field: example.becomes })
  })

  test('shows its own issue only', () => {
    const { element } = open({ issues: [{ path: ['field'], message: 'must be better' }] })
    expect(element.textContent).toContain('Must be better')
    expect(document.querySelector('[data-field="other"]')!.textContent).not.toContain('better')
    const described = [...element.querySelectorAll('[aria-describedby]')].filter((one) =>
      (one.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .some((id) => document.getElementById(id)?.textContent.includes('Must be better')),
    )
    expect(described).not.toHaveLength(0)
  })

  test('is not editable for viewers', () => {
    const { element } = open({ readOnly: true })
    for (const control of element.querySelectorAll<HTMLInputElement>('input:not([type=hidden]), textarea, select'))
      expect(control.readOnly || control.disabled, control.outerHTML).toBe(true)
    for (const button of within(element).queryAllByRole('button'))
      expect(button.getAttribute('aria-label')).toMatch(/^Show or hide/)
  })
})

describe('a secret', () => {
  const schema: Schema = { type: 'object', properties: { key: { type: 'string', 'x-kind': 'secret' } } }
  const box = () => screen.getByLabelText<HTMLInputElement>('Key')

  test('that is stored is shown as set, without its value', () => {
    fill(schema, { key: null })
    expect(box()).toMatchObject({ type: 'password', value: '', placeholder: 'Set; type to replace' })
  })

  test('is masked while typed, and is no password field for the browser', async () => {
    const { user, value } = fill(schema, {})
    await user.type(box(), 'swordfish')
    expect(value()).toEqual({ key: 'swordfish' })
    expect(box()).toMatchObject({ type: 'password', autocomplete: 'new-password' })
    expect(document.body.textContent).not.toContain('swordfish')
  })

  test('keeps the stored value when the text is cleared again', async () => {
    const { user, value } = fill(schema, { key: null })
    await user.type(box(), 'x{Backspace}')
    expect(value()).toEqual({ key: null })
  })
})

describe('a form with templates', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      count: { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '\\{\\{' }] },
      text: { type: 'string' },
    },
  }
  const complete = { input: { closed: true, members: { total: {}, tax: {} } } }

  test('suggests what a template can name and inserts the choice', async () => {
    const { user, value } = fill(schema, {}, { complete })
    const text = screen.getByRole('textbox', { name: 'Text' })
    await user.type(text, 'Total: {{{{input.to')
    await user.click(await screen.findByRole('option', { name: /total/ }))
    expect(value()).toEqual({ text: 'Total: {{input.total}}' })
  })

  test('accepts a template in place of a number', async () => {
    const { user, value } = fill(schema, { count: 3 }, { complete })
    await user.click(screen.getByRole('button', { name: 'Count: template' }))
    fireEvent.change(screen.getByRole('textbox', { name: 'Count' }), { target: { value: '{{input.total}}' } })
    expect(value()).toEqual({ count: '{{input.total}}' })
    await user.click(screen.getByRole('button', { name: 'Count: template' }))
    expect(value()).toEqual({})
  })
})

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

test('each field changes its own member, and unknown members are kept', async () => {
  const { user, value } = fill(order, { name: 'a', unknown: 1 })
  await user.type(screen.getByRole('textbox', { name: 'Name' }), 'bc')
  await user.type(screen.getByRole('textbox', { name: 'Count' }), '12')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Size' }), 'large')
  expect(value()).toEqual({ name: 'abc', unknown: 1, count: 12, size: 'large' })
})

test('an optional text that is empty says so, a required one only lacks a value', () => {
  fill({ ...order, properties: { ...order.properties, note: { type: 'string' } } }, { name: '', note: '' })
  expect(screen.getByRole('textbox', { name: 'Name' })).toHaveProperty('placeholder', '')
  expect(screen.getByRole('textbox', { name: 'Note' })).toHaveProperty('placeholder', 'Empty text')
})

test('text that is not a number is reported and not applied', async () => {
  const { user, value } = fill(order, { name: 'a', count: 3 })
  const count = screen.getByRole('textbox', { name: 'Count' })
  await user.type(count, 'x')
  expect(count).toHaveProperty('value', '3x')
  expect(value()).toEqual({ name: 'a' })
  expect(count.getAttribute('aria-invalid')).toBe('true')
  screen.getByText(/^Not applied/)
})

test('list items are added, moved and removed with their content', async () => {
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

test('an existing key is not added twice', async () => {
  const { user, value } = fill(order, { prices: { apple: 1, pear: 2 } })
  const key = screen.getAllByPlaceholderText('Key')[1]!
  await user.clear(key)
  await user.type(key, 'apple')
  await user.tab()
  screen.getByText('Not applied: duplicate key')
  expect(value()).toEqual({ prices: { apple: 1, pear: 2 } })
  await user.clear(key)
  await user.type(key, 'plum{Enter}')
  expect(value()).toEqual({ prices: { apple: 1, plum: 2 } })
})

test('an issue is shown at its item, or at the top if no field shows it', () => {
  const issues: FormIssue[] = [
    { path: ['tags', 1], message: 'must not be empty' },
    { path: [], message: 'name is missing' },
  ]
  fill(order, { tags: ['one', ''] }, { issues })
  expect(screen.getByRole('textbox', { name: 'Tag 2' }).getAttribute('aria-invalid')).toBe('true')
  expect(screen.getByRole('textbox', { name: 'Tag 1' }).getAttribute('aria-invalid')).toBeNull()
  screen.getByText(/^Name is missing/)
})

test('a warning is not an error', () => {
  fill(order, { name: 'a' }, { issues: [{ path: ['name'], message: 'is short', severity: 'warning' }] })
  expect(screen.getByRole('textbox', { name: 'Name' }).getAttribute('aria-invalid')).toBeNull()
  screen.getByText(/Is short/)
})

test('a value of another type is edited as that type', async () => {
  const { user, value } = fill(order, { count: 'many' })
  const count = within(document.querySelector<HTMLElement>('[data-field="count"]')!)
  expect(count.getByRole('textbox')).toHaveProperty('value', 'many')
  await user.selectOptions(count.getByRole('combobox', { name: 'Type of Count' }), 'Number')
  expect(value()).toEqual({ count: 0 })
})
