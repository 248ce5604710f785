import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { nodeTypes } from '../../../test/node-types'
import { show } from '../../../test/render'
import { inputsOf, serve } from '../../../test/server'
import type { MapEdge, MapNode } from '../../graph/map'
import { Editor } from './editor'
import type { Blueprint } from './use-save'

const node = (id: string, type: string, config: object, x = 0) =>
  ({ id, type, title: `The ${id} node`, config, position: { x, y: 0 } }) as MapNode

const trigger = (id: string, trigger_type: string, config: object, is_active = true) => ({
  id,
  trigger_type,
  config,
  is_active,
  blueprint_id: 'b1',
  blueprint_title: 'Orders',
  created_by: 'u1',
  can_manage: true,
  url: trigger_type === 'webhook' ? `https://example.com/webhooks/blueprint/${id}` : null,
  next_at: null,
})

/** Opens the editor of a blueprint with these nodes, on a server that stores saved changes. */
function open(
  nodes: MapNode[],
  {
    edges,
    canManage = true,
    triggers = [],
  }: { edges?: MapEdge[]; canManage?: boolean; triggers?: ReturnType<typeof trigger>[] } = {},
) {
  const stored = {
    id: 'b1',
    title: 'Orders',
    version: '1.0.0',
    blueprint_map: { nodes, ...(edges ? { edges } : {}) },
    environment_variables: [],
    organization_id: 'o1',
    can_manage: canManage,
  } as unknown as Blueprint
  const calls = serve({
    'blueprint.get': () => stored,
    'blueprint.validate': ({ blueprint_map }: { blueprint_map: { nodes: MapNode[] } }) => ({
      valid: true,
      issues: blueprint_map.nodes.flatMap(({ config }, index) =>
        config.url === '' || config.url === 'example'
          ? [
              {
                path: ['blueprint_map', 'nodes', index, 'config', 'url'],
                message: config.url === '' ? 'must not be empty' : 'must begin with http:// or https://',
                severity: 'error',
              },
            ]
          : [],
      ),
    }),
    'blueprint.update': (change: object) => Object.assign(stored, change),
    'execution.listRuns': () => ({ runs: [] }),
    'connection.list': () => [],
    'blueprintTriggers.list': () => triggers.map(({ id }) => ({ id })),
    'blueprintTriggers.getDetails': ({ triggerId }: { triggerId: string }) =>
      triggers.find(({ id }) => id === triggerId),
    'blueprintTriggers.create': ({ triggerType, config }: { triggerType: string; config: object }) => {
      triggers.push(trigger(`t${triggers.length + 1}`, triggerType, config))
      return triggers.at(-1)
    },
    'blueprintTriggers.update': ({ triggerId, config }: { triggerId: string; config: object }) => {
      const found = triggers.find(({ id }) => id === triggerId)!
      found.config = { ...found.config, ...config }
      return found
    },
  })
  const user = show(<Editor blueprint={structuredClone(stored)} types={nodeTypes} />)
  const saves = () => inputsOf(calls, 'blueprint.update') as Blueprint[]
  return {
    user,
    saves,
    calls,
    /** The last saved map. */
    saved: async () => {
      await waitFor(() => expect(saves()).not.toHaveLength(0))
      return saves().at(-1)!.blueprint_map as { nodes: MapNode[]; edges?: MapEdge[] }
    },
  }
}

const card = (name: RegExp) => screen.findByRole('group', { name })
const settings = () => screen.findByRole('complementary', { name: 'Settings' })
const save = () => screen.getByRole('button', { name: 'Save' })
const issues = (text: string) => screen.findByRole('button', { name: `Issues: ${text}` })

test('saves what is typed into a form', async () => {
  const { user, saved } = open([node('say', 'template', { text: 'before' })])
  fireEvent.click(await card(/The say node/))
  const text = within(await settings()).getByRole('textbox', { name: 'Text' })
  expect(text).toHaveProperty('value', 'before')
  await user.clear(text)
  await user.type(text, 'after')
  await user.click(save())
  expect((await saved()).nodes[0]!.config).toEqual({ text: 'after' })
})

test('undoes typing', async () => {
  const { user } = open([node('say', 'template', { text: 'before' })])
  fireEvent.click(await card(/The say node/))
  const title = within(await settings()).getByRole('textbox', { name: 'Title' })
  await user.type(title, '!')
  expect(title).toHaveProperty('value', 'The say node!')
  await user.click(screen.getByRole('button', { name: /^Undo/ }))
  await waitFor(() => expect(title).toHaveProperty('value', 'The say node'))
  screen.getByRole('button', { name: 'Saved' })
})

test('reports invalid JSON and blocks saving until it is fixed', async () => {
  const { user, saved, saves } = open([
    node('call', 'http-request', { url: 'https://example.com', method: 'POST', body: { a: 1 } }),
  ])
  await issues('No problems')
  fireEvent.click(await card(/The call node/))
  const body = within(await settings()).getByRole('textbox', { name: 'Body' })
  fireEvent.change(body, { target: { value: '{"a": 2' } })
  await screen.findByText(/^Not applied: invalid JSON/)
  await issues('1 error')
  await user.click(save())
  await screen.findByText(/^Not saved: a field is marked/)
  expect(saves()).toEqual([])
  fireEvent.change(body, { target: { value: '{"a": 3}' } })
  await issues('No problems')
  await user.click(save())
  expect((await saved()).nodes[0]!.config.body).toEqual({ a: 3 })
})

test('counts an empty required field and shows the issue at the field', async () => {
  const { user } = open([node('call', 'http-request', { method: 'GET', url: '' })])
  await issues('1 error')
  await user.click(screen.getByRole('button', { name: 'Issues: 1 error' }))
  await user.click(await screen.findByRole('button', { name: /must not be empty/i }))
  const url = within(await settings()).getByRole('textbox', { name: 'URL' })
  expect(url.getAttribute('aria-invalid')).toBe('true')
  await user.type(url, 'https://example.com')
  await issues('No problems')
})

/** Opens an empty editor and adds an HTTP request, whose URL is empty. */
async function added() {
  const opened = open([])
  fireEvent.click(await screen.findByRole('button', { name: /Add first node/ }))
  await opened.user.type(await screen.findByRole('searchbox', { name: 'Search node types' }), 'http{Enter}')
  await issues('1 error')
  await card(/HTTP request.*not set up yet/)
  const url = within(await settings()).getByRole('textbox', { name: 'URL' })
  expect(url.getAttribute('aria-invalid')).not.toBe('true')
  within(await settings()).getByText('Not filled in yet')
  expect(screen.queryByRole('group', { name: /HTTP request.*error/ })).toBeNull()
  return { ...opened, url }
}

test('marks what is missing in an added node as an error once its panel is closed', async () => {
  const { user } = await added()
  await user.click(within(await settings()).getByRole('button', { name: 'Close panel' }))
  fireEvent.click(await card(/HTTP request.*1 error/))
  const url = within(await settings()).getByRole('textbox', { name: 'URL' })
  expect(url.getAttribute('aria-invalid')).toBe('true')
  expect(screen.queryByText('Not filled in yet')).toBeNull()
})

test('marks what is missing in an added node as an error once it is saved', async () => {
  const { user, saved } = await added()
  await user.click(save())
  await saved()
  await card(/HTTP request.*1 error/)
})

test('marks a wrong value in an added node as an error at once', async () => {
  const { user, url } = await added()
  await user.type(url, 'example')
  await card(/HTTP request.*1 error/)
  expect(url.getAttribute('aria-invalid')).toBe('true')
  await user.clear(url)
  await card(/HTTP request.*not set up yet/)
})

test('keeps an added node unmarked while its ID changes and when it is restored', async () => {
  const { user } = await added()
  await user.click(screen.getByRole('button', { name: /^Undo/ }))
  await issues('No problems')
  await user.click(screen.getByRole('button', { name: /^Redo/ }))
  await card(/HTTP request.*not set up yet/)
  await user.click(within(await settings()).getByRole('button', { name: /^Rename/ }))
  const id = within(await settings()).getByRole('textbox', { name: 'ID' })
  await user.clear(id)
  await user.type(id, 'call{Enter}')
  await waitFor(() => expect(document.querySelector('.react-flow__node[data-id="call"]')).not.toBeNull())
  await card(/HTTP request.*not set up yet/)
})

test('deletes the selected edge with Delete', async () => {
  const { user, saved } = open([node('a', 'set', { values: {} }), node('b', 'log', { message: 'x' }, 400)], {
    edges: [{ source: 'a', target: 'b' }],
  })
  await card(/The a node/)
  const edge = await waitFor(() => {
    const found = document.querySelector(`.react-flow__edge[data-id='["a","main","b"]']`)
    expect(found).not.toBeNull()
    return found!
  })
  fireEvent.click(edge)
  await within(await screen.findByRole('toolbar', { name: 'Selection' })).findByText('a → b')
  fireEvent.keyDown(screen.getByRole('group', { name: 'Canvas' }), { key: 'Delete' })
  await waitFor(() => expect(screen.queryByRole('toolbar', { name: 'Selection' })).toBeNull())
  await user.click(save())
  const map = await saved()
  expect(map.edges).toEqual([])
  expect(map.nodes).toHaveLength(2)
})

test('adds a node with the defaults of its type', async () => {
  const { user, saved } = open([])
  fireEvent.click(await screen.findByRole('button', { name: /Add first node/ }))
  await user.type(await screen.findByRole('searchbox', { name: 'Search node types' }), 'wait{Enter}')
  await card(/Wait/)
  await user.click(save())
  expect((await saved()).nodes.map(({ type, config }) => [type, config])).toEqual([['wait', { durationMs: 60_000 }]])
})

test('changes a node by its JSON, except the ID', async () => {
  const { user, saved } = open([node('say', 'template', { text: 'before' })])
  fireEvent.click(await card(/The say node/))
  await user.click(within(await settings()).getByRole('tab', { name: 'JSON' }))
  const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Node as JSON' })
  fireEvent.change(box, { target: { value: box.value.replace('"before"', '"after"') } })
  fireEvent.keyDown(window, { key: 's', ctrlKey: true })
  expect((await saved()).nodes[0]).toMatchObject({ id: 'say', config: { text: 'after' } })
})

test('is read-only for viewers', async () => {
  open([node('say', 'template', { text: 'hello' })], { canManage: false })
  const say = await card(/The say node/)
  fireEvent.click(say)
  const panel = within(await settings())
  expect(panel.getByRole('textbox', { name: 'Text' })).toHaveProperty('readOnly', true)
  expect(screen.queryByRole('complementary', { name: 'Node types' })).toBeNull()
  fireEvent.keyDown(say, { key: 'Delete' })
  await card(/The say node/)
})

test('shows the triggers of the blueprint left of its nodes, and opens their forms', async () => {
  const { user, calls } = open([node('say', 'template', { text: 'hello' })], {
    triggers: [
      trigger('t1', 'event', { event: 'execution.failed' }),
      trigger('t2', 'webhook', { secret: null }, false),
    ],
  })
  expect(await screen.findByRole('button', { name: /^Trigger: When a run failed, active/i })).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: /^Trigger: Webhook.*paused$/i }))
  const panel = within(await settings())
  expect(await panel.findByText('https://example.com/webhooks/blueprint/t2')).toBeTruthy()
  await user.click(await panel.findByRole('switch', { name: /^Record traffic/ }))
  await user.click(panel.getByRole('button', { name: 'Save trigger' }))
  await waitFor(() =>
    expect(inputsOf(calls, 'blueprintTriggers.update')).toEqual([{ triggerId: 't2', config: { record: true } }]),
  )
})

test('adds a trigger to a blueprint without nodes, and shows it', async () => {
  const { user, calls, saves } = open([])
  expect(await screen.findByRole('button', { name: /Add first node/ })).toBeTruthy()
  fireEvent.click(await screen.findByRole('button', { name: 'Add a trigger' }))
  const panel = within(await settings())
  await user.click(await panel.findByRole('button', { name: /^API call/ }))
  await user.click(await panel.findByRole('button', { name: 'Create trigger' }))
  expect(await screen.findByRole('button', { name: /^Trigger: API call, active/i })).toBeTruthy()
  expect(inputsOf(calls, 'blueprintTriggers.create')).toEqual([{ blueprintId: 'b1', triggerType: 'api', config: {} }])
  expect(saves()).toEqual([]) // triggers are not part of the map
})

test('shows no triggers to readers, who may not list them', async () => {
  const { calls } = open([node('say', 'template', { text: 'hello' })], { canManage: false })
  await card(/The say node/)
  expect(screen.queryByRole('button', { name: 'Add a trigger' })).toBeNull()
  expect(inputsOf(calls, 'blueprintTriggers.list')).toEqual([])
})
