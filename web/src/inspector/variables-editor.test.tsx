import { fireEvent, screen, within } from '@testing-library/react'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { nodeTypes } from '../../test/node-types'
import { show } from '../../test/render'
import { VariablesEditor, type VariablesEditorProps } from './variables-editor'

function edit(start: unknown[], more: Partial<VariablesEditorProps> = {}) {
  let current = start
  function Panel() {
    const [variables, setVariables] = useState(start)
    const change = (next: unknown[]) => {
      current = next
      setVariables(next)
    }
    return <VariablesEditor variables={variables} onChange={change} {...more} />
  }
  return { user: show(<Panel />), value: () => current }
}

const region = { name: 'region', type: 'string', default: 'north' }
const key = { name: 'key', type: 'string', secret: true, default: null }

/** The row of a variable. */
const row = (name: string) => within(screen.getByRole('region', { name: `Variable ${name}` }))
const open = async (user: ReturnType<typeof show>, name: string) => {
  await user.click(row(name).getByRole('button', { expanded: false }))
  return row(name)
}

test('adds a variable with its name selected and renames it', async () => {
  const { user, value } = edit([])
  await user.click(screen.getByRole('button', { name: 'Add variable' }))
  const name = await screen.findByRole('textbox', { name: 'Name' })
  fireEvent.change(name, { target: { value: 'region' } })
  expect(value()).toEqual([{ name: 'region', type: 'string' }])
})

test('gives a second new variable another name', async () => {
  const { user, value } = edit([{ name: 'variable', type: 'string' }])
  await user.click(screen.getByRole('button', { name: 'Add variable' }))
  expect(value()).toMatchObject([{ name: 'variable' }, { name: 'variable_2' }])
})

test.each(['', 'two words', 'now', 'key'])('refuses the name %j at its field', async (wrong) => {
  const { user } = edit([region, key])
  const { getByRole } = await open(user, 'region')
  const name = getByRole('textbox', { name: 'Name' })
  fireEvent.change(name, { target: { value: wrong } })
  expect(name.getAttribute('aria-invalid')).toBe('true')
  screen.getAllByText('Problem')
})

test('shows an issue of a default at the default', async () => {
  const issues = [{ path: ['environment_variables', 0, 'default'], message: 'must be shorter' }]
  const { user } = edit([region, key], { issues })
  const { getByRole } = await open(user, 'region')
  expect(getByRole('textbox', { name: 'Default' }).getAttribute('aria-invalid')).toBe('true')
  row('region').getByText(/Must be shorter/)
  expect(row('key').queryByText('Problem')).toBeNull()
})

test('shows a warning about a name that is not an error', async () => {
  const issues = [{ path: [0, 'name'], message: 'is used by no node', severity: 'warning' }]
  const { user } = edit([region], { issues })
  const { getByRole, getByText } = await open(user, 'region')
  getByText(/Is used by no node/)
  const name = getByRole('textbox', { name: 'Name' })
  expect([name.getAttribute('aria-invalid'), name.getAttribute('data-error')]).toEqual([null, null])
})

test('removes a default that does not fit a new type', async () => {
  const { user, value } = edit([{ ...region, note: 'kept' }])
  const { getByRole } = await open(user, 'region')
  await user.selectOptions(getByRole('combobox', { name: 'Type' }), 'Number')
  expect(value()).toEqual([{ name: 'region', type: 'number', note: 'kept' }])
  await user.type(getByRole('textbox', { name: 'Default' }), '7')
  expect(value()).toEqual([{ name: 'region', type: 'number', default: 7, note: 'kept' }])
})

test('never shows a stored secret, replaces it with typed text, and keeps it when the text is cleared', async () => {
  const { user, value } = edit([key])
  const { getByLabelText } = await open(user, 'key')
  const box = getByLabelText<HTMLInputElement>('Value')
  expect(box).toMatchObject({ type: 'password', value: '' })
  screen.getByText('A value is stored but not shown. Type to replace it.')
  await user.type(box, 'swordfish')
  expect(value()).toMatchObject([{ default: 'swordfish' }])
  expect(document.body.textContent).not.toContain('swordfish')
  await user.clear(box)
  expect(value()).toEqual([key])
})

test('removes a stored secret only with its button', async () => {
  const { user, value } = edit([key])
  const { getByRole } = await open(user, 'key')
  await user.click(getByRole('button', { name: 'Remove stored value' }))
  expect(value()).toEqual([{ name: 'key', type: 'string', secret: true }])
  screen.getByText('The stored value is removed when you save.')
})

test('does not show the stored value after Secret is turned off', async () => {
  const { user, value } = edit([{ ...key, default: 'swordfish' }])
  const { getByRole } = await open(user, 'key')
  await user.click(getByRole('checkbox', { name: 'Secret' }))
  expect(value()).toEqual([{ name: 'key', type: 'string' }])
  expect(getByRole('textbox', { name: 'Default' })).toHaveProperty('value', '')
})

test('moves and removes a variable', async () => {
  const { user, value } = edit([region, key])
  expect(screen.getByRole('button', { name: 'Move region up' })).toHaveProperty('disabled', true)
  await user.click(screen.getByRole('button', { name: 'Move region down' }))
  expect(value()).toEqual([key, region])
  await user.click(screen.getByRole('button', { name: 'Remove key' }))
  expect(value()).toEqual([region])
})

test('lists the nodes that use a variable, and marks unused ones', async () => {
  const node = { id: 'say', type: 'template', title: 'Say it', config: { text: 'In {{region}}' } }
  const shown: unknown[] = []
  const { user } = edit([region, { name: 'spare', type: 'string' }], {
    map: { nodes: [node] } as unknown as VariablesEditorProps['map'],
    types: nodeTypes,
    onShowNode: (one) => shown.push(one.id),
  })
  screen.getByText('not used')
  const { getByRole } = await open(user, 'region')
  await user.click(getByRole('button', { name: 'Say it' }))
  expect(shown).toEqual(['say'])
})

test('is read-only for viewers', async () => {
  const { user } = edit([region], { readOnly: true })
  expect(screen.queryByRole('button', { name: /^(Add|Move|Remove)/ })).toBeNull()
  const { getByRole } = await open(user, 'region')
  expect(getByRole('textbox', { name: 'Name' })).toHaveProperty('readOnly', true)
  expect(getByRole('textbox', { name: 'Default' })).toHaveProperty('readOnly', true)
  expect(getByRole('checkbox', { name: 'Secret' })).toHaveProperty('disabled', true)
})
