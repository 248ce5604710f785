import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../test/render'
import { serve } from '../../test/server'
import { MenusContext } from './menus'
import { PaletteButton } from './palette-button'

const menus = {
  navigation: [
    { path: '/runs', title: 'Runs' },
    { path: '/settings', title: 'Settings' },
  ],
  settings: [
    { path: '/settings/audit', title: 'Audit log' },
    { path: '/settings/status', title: 'Status', elsewhere: 'Server status', owners: true },
  ],
}

const open = ({ owner = false } = {}) => {
  serve({
    'server.getInfo': () => ({ mayOperate: owner }),
    'blueprint.listSummaries': () => ({ data: [{ id: 'b1', title: 'Ship the orders' }] }),
    'blueprintTriggers.listAll': () => ({
      data: [
        { id: 't1', trigger_type: 'webhook', config: {}, blueprint_title: 'Ship the orders' },
        {
          id: 't2',
          trigger_type: 'webhook',
          config: { label: 'Orders of the shop' },
          blueprint_title: 'Ship the orders',
        },
      ],
    }),
    'connection.list': () => [
      { id: 'c1', name: 'Slack of the shop', type: 'slack' },
      { id: 'c2', name: 'Models', type: 'ai-provider' },
    ],
    'organization.list': () => [{ id: 'o1', name: 'Northwind Shop' }],
  })
  return {
    user: show(
      <MenusContext value={menus}>
        <PaletteButton />
      </MenusContext>,
      '/runs',
    ),
  }
}
const field = () => screen.findByRole('combobox', { name: 'Page, blueprint, trigger, connection or run ID' })
const options = () => screen.getAllByRole('option').map((option) => option.textContent)

test('opens with Ctrl+K and goes to a page by its first letters', async () => {
  const { user } = open()
  await user.keyboard('{Control>}k{/Control}')
  await screen.findByRole('dialog', { name: 'Go to…' })
  await user.type(await field(), 'aud lo')
  expect(options()).toEqual(['Audit logSettings'])
  await user.keyboard('{Enter}')
  expect(location.pathname).toBe('/settings/audit')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})

test('finds an entry of the owner by its title outside the menu', async () => {
  const { user } = open({ owner: true })
  await user.keyboard('{Control>}k{/Control}')
  await user.type(await field(), 'server')
  await waitFor(() => expect(options()).toEqual(['Server statusSettings']))
})

test('lists the entries of the menus, for other users without those of the owner', async () => {
  const { user } = open()
  await user.keyboard('{Control>}k{/Control}')
  await field()
  expect(options()).toEqual([
    'New blueprint',
    'New trigger',
    'New connection',
    'Runs',
    'Waiting runs',
    'Failed runs',
    'Audit logSettings',
    'Documentation',
  ])
})

test('finds blueprints and triggers and is used with the arrow keys', async () => {
  const { user } = open()
  await user.click(screen.getByRole('button', { name: 'Go to…' }))
  await user.type(await field(), 'ship')
  await waitFor(() =>
    expect(options()).toEqual([
      'Ship the ordersBlueprint',
      'Ship the ordersTrigger, webhook',
      'Orders of the shopTrigger, webhook',
    ]),
  )
  await user.keyboard('{ArrowDown}{ArrowDown}{ArrowUp}')
  expect(screen.getByRole('option', { selected: true }).textContent).toBe('Ship the ordersTrigger, webhook')
  await user.keyboard('{Enter}')
  expect(location.pathname).toBe('/triggers/t1')
})

test('finds connections and organizations', async () => {
  const { user } = open()
  await user.keyboard('{Control>}k{/Control}')
  await user.type(await field(), 'shop')
  await waitFor(() => expect(options().slice(3)).toEqual(['Slack of the shopConnection', 'Northwind ShopOrganization']))
  await user.keyboard('{ArrowUp}{ArrowUp}{Enter}')
  expect(location.pathname).toBe('/connections/c1')
})

test('goes to the run with an ID', async () => {
  const { user } = open()
  await user.keyboard('{Control>}k{/Control}')
  await user.type(await field(), 'exec_1_abc')
  expect(options()).toEqual(['exec_1_abcRun'])
  await user.click(screen.getByRole('option'))
  expect(location.pathname).toBe('/runs/exec_1_abc')
})
