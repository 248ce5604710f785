import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Blueprint } from '../../api/use-blueprint'
import { nodeTypes } from '../../../test/node-types'
import { show } from '../../../test/render'
import { inputsOf, serve } from '../../../test/server'
import { DraftBanner } from './draft-banner'
import VersionsTab from './versions-tab'

const map = (text: string) => ({ nodes: [{ id: 'say', type: 'template', title: 'Say it', config: { text } }] })
const base = {
  id: 'b1',
  title: 'Orders',
  version: '1.1.0',
  tags: [],
  can_manage: true,
  blueprint_map: map('now'),
  environment_variables: [],
} as unknown as Blueprint
const draft = (from: string) =>
  ({
    ...base,
    id: 'd1',
    title: 'Orders (draft)',
    version: '1.3.0',
    description: 'Says it better.',
    creator_name: 'Ada',
    tags: ['agent-draft', 'draft-of:b1', `draft-from:${from}`, 'proposed'],
    blueprint_map: map('better'),
  }) as unknown as Blueprint

function review(from: string, address: string) {
  const calls = serve({
    'node.types': () => nodeTypes,
    'blueprint.versions': () => [
      { ...base, createdAt: '2026-01-01T00:00:00Z', createdBy: 'ada' },
      { ...base, version: '1.0.0', blueprint_map: map('before'), createdAt: '2026-01-01T00:00:00Z', createdBy: 'ada' },
    ],
    'blueprint.listSummaries': () => ({ data: [draft(from)], pagination: {} }),
    'blueprint.get': () => draft(from),
    'blueprint.delete': () => ({ success: true }),
    'draft.apply': () => ({ ...base, version: '1.2.0' }),
    'organization.members': () => [],
    'collaborator.list': () => [],
  })
  return { user: show(<VersionsTab blueprint={base} />, address), calls }
}

test('lists what agents propose and applies it after a review', async () => {
  const { user, calls } = review('1.1.0', '/blueprints/b1/versions')
  await screen.findByText('Says it better.')
  await user.click(screen.getByRole('button', { name: 'Review changes' }))
  await screen.findByRole('heading', { name: 'From 1.1.0 to the draft' })
  await user.click(screen.getByRole('button', { name: 'Apply' }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(inputsOf(calls, 'draft.apply')).toEqual([])
  await user.click(dialog.getByRole('button', { name: 'Apply' }))
  await waitFor(() => expect(inputsOf(calls, 'draft.apply')).toEqual([{ id: 'd1', version: '1.3.0', of: 'b1' }]))
  await screen.findByText('Version 1.2.0 of "Orders" is live')
})

test('does not apply a draft of an earlier version, and discards it', async () => {
  const { user, calls } = review('1.0.0', '/blueprints/b1/versions?draft=d1')
  await screen.findByText(/was made from version 1\.0\.0/)
  expect(screen.queryByRole('button', { name: 'Apply' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Discard' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Discard' }))
  await waitFor(() => expect(inputsOf(calls, 'blueprint.delete')).toEqual([{ id: 'd1' }]))
})

test('shows on a draft what it is, and publishes a new one', async () => {
  const calls = serve({ 'draft.apply': () => ({ ...base, title: 'New', version: '1.4.0' }) })
  const fresh = { ...draft(''), tags: ['agent-draft', 'proposed'] }
  const user = show(<DraftBanner blueprint={fresh} />, '/blueprints/d1/edit')
  await user.click(await screen.findByRole('button', { name: 'Publish' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Publish' }))
  await waitFor(() => expect(inputsOf(calls, 'draft.apply')).toEqual([{ id: 'd1', version: '1.3.0' }]))
})
