import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../../test/render'
import { inputsOf, serve } from '../../../test/server'
import GrantsPage from './grants-page'

const row = { blueprintId: 'b1', title: 'Orders', author: { id: 'bo', name: 'Bo' }, grantedAt: '2026-01-01T00:00:00Z' }
let rows: object[]
const open = () => {
  rows = [
    { ...row, version: '1.1.0' },
    { ...row, version: '1.2.0' },
  ]
  const calls = serve({
    'blueprint.listGrants': () => rows,
    'blueprint.revokeGrant': () => void (rows = []),
    'server.getInfo': () => ({ now: new Date(0).toISOString(), clock: 'system' }),
  })
  return { user: show(<GrantsPage />, '/settings/grants'), revoked: () => inputsOf(calls, 'blueprint.revokeGrant') }
}

test('lists grants and asks before it revokes those of a blueprint', async () => {
  const { user, revoked } = open()
  const [button] = await screen.findAllByRole('button', { name: 'Revoke grants for Orders' })
  await user.click(button!)
  const dialog = within(await screen.findByRole('dialog', { name: 'Revoke all 2 grants for “Orders”?' }))
  expect(revoked()).toEqual([])
  await user.click(dialog.getByRole('button', { name: 'Revoke' }))
  await screen.findByText('No grants')
  expect(revoked()).toEqual([{ id: 'b1' }])
})

test('keeps grants when the user cancels', async () => {
  const { user, revoked } = open()
  const [button] = await screen.findAllByRole('button', { name: 'Revoke grants for Orders' })
  await user.click(button!)
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(revoked()).toEqual([])
})
