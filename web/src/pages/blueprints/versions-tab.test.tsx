import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Blueprint } from '../../api/use-blueprint'
import { nodeTypes } from '../../../test/node-types'
import { show } from '../../../test/render'
import { inputsOf, serve } from '../../../test/server'
import VersionsTab from './versions-tab'

const node = (text: string) => ({ id: 'say', type: 'template', title: 'Say it', config: { text } })
const version = (number: string, text: string, variables: object[]) => ({
  version: number,
  blueprint_map: { nodes: [node(text)] },
  environment_variables: variables,
  createdAt: '2026-01-01T00:00:00Z',
  createdBy: 'ada',
})

function review(canManage = true) {
  const key = { name: 'key', type: 'string', secret: true, default: null }
  const all = [
    version('1.0.2', 'now', [key]),
    version('1.0.1', 'before', [key, { name: 'city', type: 'string', default: 'Lisbon' }]),
    version('1.0.0', 'first', []),
  ]
  const blueprint = { id: 'b1', title: 'Orders', can_manage: canManage, organization_id: 'o1' } as unknown as Blueprint
  const calls = serve({
    'node.types': () => nodeTypes,
    'blueprint.versions': () => all,
    'blueprint.listSummaries': () => ({ data: [], pagination: {} }),
    'blueprint.update': () => ({ ...blueprint, version: '1.0.3' }),
    'organization.listMembers': () => [],
    'organization.members': () => [],
    'collaborator.list': () => [],
  })
  const user = show(<VersionsTab blueprint={blueprint} />, '/blueprints/b1/versions')
  return { user, updates: () => inputsOf(calls, 'blueprint.update'), calls }
}

test('lists versions with their changes and compares the newest two', async () => {
  review()
  const list = within(await screen.findByRole('list', { name: 'Versions, newest first' }))
  expect(list.getAllByRole('button').map((one) => /\d\.\d\.\d/.exec(one.textContent)?.[0])).toEqual([
    '1.0.2',
    '1.0.1',
    '1.0.0',
  ])
  list.getByText('Created')
  screen.getByRole('heading', { name: 'From 1.0.1 to 1.0.2' })
  expect(screen.queryByRole('button', { name: /^Restore/ })).toBeNull()
})

test('asks before it restores an older version, and keeps stored secrets', async () => {
  const { user, updates } = review()
  await user.click(await screen.findByRole('button', { name: /^1\.0\.1/ }))
  await user.click(await screen.findByRole('button', { name: 'Restore 1.0.1' }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(updates()).toEqual([])
  await user.click(dialog.getByRole('button', { name: 'Restore 1.0.1' }))
  await waitFor(() =>
    expect(updates()).toEqual([
      {
        id: 'b1',
        blueprint_map: { nodes: [node('before')] },
        environment_variables: [
          { name: 'key', type: 'string', secret: true, default: null },
          { name: 'city', type: 'string', default: 'Lisbon' },
        ],
      },
    ]),
  )
  await screen.findByText('Version 1.0.3 is the same as 1.0.1')
})

test('compares any two versions and stores the choice in the URL', async () => {
  const { user } = review()
  await user.selectOptions(await screen.findByRole('combobox', { name: 'From' }), '1.0.0')
  screen.getByRole('heading', { name: 'From 1.0.0 to 1.0.2' })
  expect(location.search).toContain('from=1.0.0')
})

test('shows users who do not manage the blueprint that versions are hidden', () => {
  const { calls } = review(false)
  screen.getByText('Versions are hidden')
  expect(calls).toEqual([])
})
