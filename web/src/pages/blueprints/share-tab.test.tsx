import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Blueprint } from '../../api/use-blueprint'
import { show } from '../../../test/render'
import { inputsOf, Refusal, serve } from '../../../test/server'
import ShareTab from './share-tab'

/** Opens the Share page of a blueprint. */
function share(more: Partial<Blueprint> = {}, refuse?: Refusal) {
  const blueprint = {
    id: 'b1',
    title: 'Orders',
    description: '',
    tags: [],
    status: 'draft',
    visibility: 'private',
    organization_id: 'o1',
    organizations: [{ id: 'o1', name: 'Shop' }],
    created_by: 'ada',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-02T00:00:00Z',
    can_manage: true,
    is_owner: true,
    average_rating: 0,
    categories: [],
    rating_count: 0,
    ...more,
  } as unknown as Blueprint
  const calls = serve({
    'blueprint.update': (change: object) => {
      if (refuse) throw refuse
      return { ...blueprint, ...change }
    },
    'blueprint.delete': () => null,
    'collaborator.list': () => [],
    'organization.members': () => [],
    'organization.listMembers': () => [],
    'category.list': () => [],
    'blueprint.getCategories': () => [],
  })
  const user = show(<ShareTab blueprint={blueprint} />, '/blueprints/b1/share')
  return { user, of: (path: string) => inputsOf(calls, path) }
}

const agree = async (user: ReturnType<typeof show>, name: string) =>
  user.click(within(await screen.findByRole('dialog')).getByRole('button', { name }))

test('publishes and unpublishes', async () => {
  const { user, of } = share()
  await user.click(screen.getByRole('button', { name: 'Publish' }))
  await waitFor(() => expect(of('blueprint.update')).toEqual([{ id: 'b1', status: 'published' }]))
  await screen.findByText('“Orders” published')
})

test('unpublishes a published blueprint', async () => {
  const { user, of } = share({ status: 'published' })
  await user.click(screen.getByRole('button', { name: 'Unpublish' }))
  await waitFor(() => expect(of('blueprint.update')).toEqual([{ id: 'b1', status: 'draft' }]))
})

test('asks before it makes a blueprint public', async () => {
  const { user, of } = share()
  await user.click(screen.getByRole('radio', { name: 'Public' }))
  await agree(user, 'Cancel')
  expect(of('blueprint.update')).toEqual([])
  await user.click(screen.getByRole('radio', { name: 'Public' }))
  await agree(user, 'Make public')
  await waitFor(() => expect(of('blueprint.update')).toEqual([{ id: 'b1', visibility: 'public' }]))
})

test('shows a refused budget at its field', async () => {
  const message = 'must be at most 1000'
  const { user } = share({}, new Refusal('BAD_REQUEST', message, [{ path: ['budget', 'calls'], message }]))
  const calls = screen.getByRole('textbox', { name: 'Calls' })
  fireEvent.change(calls, { target: { value: '2000' } })
  const form = calls.closest('form')!
  await user.click(within(form).getByRole('button', { name: 'Save' }))
  await waitFor(() => expect(within(form).getAllByText(/must be at most 1000/i)).toHaveLength(2))
  expect(calls.getAttribute('aria-invalid')).toBe('true')
})

test('deletes after the title is typed', async () => {
  const { user, of } = share()
  await user.click(screen.getByRole('button', { name: 'Delete blueprint' }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(dialog.getByRole('button', { name: 'Delete blueprint' })).toHaveProperty('disabled', true)
  await user.type(dialog.getByRole('textbox'), 'Orders')
  await user.click(dialog.getByRole('button', { name: 'Delete blueprint' }))
  await waitFor(() => expect(of('blueprint.delete')).toEqual([{ id: 'b1' }]))
})

test('hides publishing and deleting from users who do not manage the blueprint', () => {
  share({ can_manage: false, is_owner: false })
  expect(screen.queryByRole('button', { name: /Publish|Delete|draft/ })).toBeNull()
  expect(screen.queryByRole('radio', { name: 'Public' })).toBeNull()
})
