import { fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../../test/render'
import { inputsOf, Refusal, serve } from '../../../test/server'
import { ConnectionForm } from './connection-form'
import type { Connection, ConnectionType } from './types'

const type = {
  type: 'ai-provider',
  configSchema: {
    type: 'object',
    required: ['provider', 'apiKey'],
    properties: {
      provider: { enum: ['openai', 'anthropic'] },
      apiKey: { type: 'string', 'x-kind': 'secret', title: 'API key' },
      baseUrl: { type: 'string', title: 'Base URL' },
    },
  },
} as unknown as ConnectionType
const stored = {
  id: 'c1',
  name: 'Models',
  type: 'ai-provider',
  config: { provider: 'openai', apiKey: null, baseUrl: 'https://example.org' },
  organizationId: null,
  updatedAt: '2026-01-01T00:00:00Z',
} as unknown as Connection

function open({ readOnly = false, refuse }: { readOnly?: boolean; refuse?: Refusal } = {}) {
  const calls = serve({
    'connection.update': () => {
      if (refuse) throw refuse
      return { ...stored, updatedAt: '2026-01-02T00:00:00Z' }
    },
  })
  const user = show(<ConnectionForm of={stored} type={type} readOnly={readOnly} />)
  return {
    user,
    updates: () => inputsOf(calls, 'connection.update'),
    save: () => user.click(screen.getByRole('button', { name: 'Save changes' })),
  }
}

/** A field by its name; a star after it means required. */
const field = (name: string) => screen.getByLabelText<HTMLInputElement>(new RegExp(`^${name}( \\*)?$`))
const change = (name: string, value: string) => fireEvent.change(field(name), { target: { value } })

test('neither shows nor sends a stored secret', async () => {
  const { updates, save } = open()
  expect(field('API key')).toMatchObject({ type: 'password', value: '' })
  change('Name', 'Models of the office')
  await save()
  await waitFor(() => expect(updates()).toEqual([{ id: 'c1', name: 'Models of the office' }]))
})

test('sends only a replaced secret', async () => {
  const { updates, save } = open()
  change('API key', 'swordfish')
  expect(document.body.textContent).not.toContain('swordfish')
  await save()
  await waitFor(() => expect(updates()).toEqual([{ id: 'c1', config: { apiKey: 'swordfish' } }]))
})

test('removes a cleared member', async () => {
  const { updates, save } = open()
  change('Base URL', '')
  await save()
  await waitFor(() => expect(updates()).toEqual([{ id: 'c1', config: { baseUrl: null } }]))
})

test('saves nothing without changes, and Undo restores the stored values', async () => {
  const { user } = open()
  const button = screen.getByRole('button', { name: 'Save changes' })
  expect(button).toHaveProperty('disabled', true)
  change('Base URL', 'https://example.net')
  expect(button).toHaveProperty('disabled', false)
  await user.click(screen.getByRole('button', { name: 'Undo' }))
  expect(field('Base URL')).toHaveProperty('value', 'https://example.org')
  expect(button).toHaveProperty('disabled', true)
})

test('shows a refusal at its field', async () => {
  const issue = { path: ['config', 'baseUrl'], message: 'must be an https address' }
  const { save } = open({ refuse: new Refusal('BAD_REQUEST', issue.message, [issue]) })
  change('Base URL', 'ftp://example.org')
  await save()
  await screen.findByText('It must be an https address.')
  expect(field('Base URL').getAttribute('aria-invalid')).toBe('true')
  expect(screen.queryByRole('alert')).toBeNull()
})

test('is read-only for users who may only use the connection', () => {
  open({ readOnly: true })
  screen.getByText(/^You can use this connection/)
  expect(screen.queryByRole('button', { name: 'Save changes' })).toBeNull()
  for (const name of ['Name', 'API key', 'Base URL']) expect(field(name)).toHaveProperty('readOnly', true)
})
