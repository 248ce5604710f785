import { fireEvent, screen, within } from '@testing-library/react'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { nodeTypes } from '../../test/node-types'
import { show } from '../../test/render'
import type { BlueprintMap, MapNode } from '../graph/map'
import { NodeInspector } from './node-inspector'
import type { NodeInspectorProps } from './types'

const call = {
  id: 'call',
  type: 'http-request',
  title: 'Call it',
  config: { method: 'GET', url: 'https://example.com' },
  position: { x: 10, y: 20 },
}

/** Opens the inspector of a node beside another one, "first"; `value()` returns the current node. */
function inspect(start: object, more: Partial<NodeInspectorProps> = {}) {
  let current = start as MapNode
  const first = { id: 'first', type: 'set', title: 'First', config: { values: { total: 1 } } }
  function Panel() {
    const [node, setNode] = useState(current)
    const change = (next: MapNode) => {
      current = next
      setNode(next)
    }
    const map = { nodes: [first, node], edges: [{ source: 'first', target: node.id }] } as unknown as BlueprintMap
    return <NodeInspector map={map} nodeId={node.id} types={nodeTypes} variables={[]} onChange={change} {...more} />
  }
  return { user: show(<Panel />), value: () => current }
}

const textbox = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name })
const change = (name: string, value: string) => fireEvent.change(textbox(name), { target: { value } })

test('changes the title and a config member and keeps the rest of the node', () => {
  const { value } = inspect(call)
  change('Title', 'Fetch it')
  change('URL', 'https://example.org')
  expect(value()).toEqual({ ...call, title: 'Fetch it', config: { method: 'GET', url: 'https://example.org' } })
})

test('renames an ID in its own form and refuses an existing one', async () => {
  const asked: string[] = []
  const { user, value } = inspect(call, { onRename: (id) => asked.push(id) })
  await user.click(screen.getByRole('button', { name: 'Rename the ID call' }))
  for (const wrong of ['', 'first', 'a]/b']) {
    change('ID', wrong)
    expect(textbox('ID').getAttribute('aria-invalid')).toBe('true')
    expect(screen.getByRole('button', { name: 'Rename' })).toHaveProperty('disabled', true)
  }
  change('ID', 'fetch')
  await user.click(screen.getByRole('button', { name: 'Rename' }))
  expect(asked).toEqual(['fetch'])
  expect(value()).toEqual(call)
})

test.each([
  [['config', 'url'], 'URL'],
  [['title'], 'Title'],
])('shows an issue at %j at the field %s', (path, name) => {
  inspect(call, {
    issues: [{ path: ['blueprint_map', 'nodes', 1, ...path], message: 'must be better' }],
  })
  expect(textbox(name).getAttribute('aria-invalid')).toBe('true')
  screen.getByText(/Must be better/)
})

test('hides issues of other nodes', () => {
  inspect(call, { issues: [{ path: ['blueprint_map', 'nodes', 0, 'title'], message: 'must be better' }] })
  expect(screen.queryByText(/must be better/i)).toBeNull()
})

test('suggests outputs of earlier nodes in a template', async () => {
  const { user } = inspect({ ...call, type: 'template', config: { text: '' } })
  await user.type(textbox('Text'), 'Total: {{{{nodes.')
  await user.click(await screen.findByRole('option', { name: /^first/ }))
  expect(textbox('Text').value).toContain('{{nodes.first')
})

test('summarizes the behaviour of a node, opens it, and changes only what is set', async () => {
  const { user, value } = inspect({ ...call, retry: { maxAttempts: 3, note: 'kept' }, effect: 'once' })
  const section = screen.getByRole('button', { name: /^Behaviour.*3 attempts, effect once/ })
  await user.click(section)
  await user.selectOptions(screen.getByRole('combobox', { name: 'On error' }), 'Continue')
  change('Attempts', '5')
  expect(value()).toEqual({ ...call, onError: 'continue', retry: { maxAttempts: 5, note: 'kept' }, effect: 'once' })
  await user.selectOptions(screen.getByRole('combobox', { name: 'Effect' }), 'Pure')
  expect(value()).toMatchObject({ effect: 'pure' })
})

test('opens the behaviour section when it has problems', () => {
  inspect(
    { ...call, retry: { maxAttempts: 0 } },
    { issues: [{ path: ['retry', 'maxAttempts'], message: 'is too small' }] },
  )
  expect(textbox('Attempts').getAttribute('aria-invalid')).toBe('true')
})

test('applies valid node JSON while typing, except a changed ID or an incomplete object', async () => {
  const { user, value } = inspect(call)
  await user.click(screen.getByRole('tab', { name: 'JSON' }))
  const box = textbox('Node as JSON')
  fireEvent.change(box, { target: { value: box.value.slice(0, -1) } })
  screen.getByText(/^Not applied/)
  fireEvent.change(box, { target: { value: JSON.stringify({ ...call, id: 'other' }) } })
  screen.getByText(/^Not applied/)
  expect(value()).toEqual(call)
  fireEvent.change(box, { target: { value: JSON.stringify({ ...call, title: 'Other' }) } })
  expect(value()).toEqual({ ...call, title: 'Other' })
  expect(screen.queryByText(/^Not applied/)).toBeNull()
})

test('shows the failed item of a for-each in the last run, with its error', async () => {
  const { user } = inspect(call, {
    around: [{ map: { nodes: [] } as unknown as BlueprintMap, nodeId: 'each' }],
    lastRun: {
      steps: [
        { nodeId: 'each[0]/first', status: 'completed', output: { total: 1 } },
        { nodeId: 'each[0]/call', status: 'completed', input: { a: 1 }, output: { ok: true } },
        {
          nodeId: 'each[1]/call',
          status: 'failed',
          input: { a: 2 },
          error: { code: 'http_500', message: 'The other side broke' },
        },
      ],
    },
  })
  await user.click(screen.getByRole('tab', { name: 'Last run' }))
  screen.getByText('The other side broke')
  screen.getByText('http_500')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Item' }), 'each[0]/call (Completed)')
  expect(screen.queryByText('The other side broke')).toBeNull()
})

test('suggests to run the blueprint when there is no run', async () => {
  const { user } = inspect(call)
  await user.click(screen.getByRole('tab', { name: 'Last run' }))
  screen.getByText('No runs yet')
})

test('marks the line at which a script failed', () => {
  inspect(
    { id: 'code', type: 'code', title: 'Code', config: { source: 'a\nb' } },
    {
      lastRun: {
        steps: [
          {
            nodeId: 'code',
            status: 'failed',
            error: { message: 'x is not defined (line 2, column 1)', code: 'script' },
          },
        ],
      },
    },
  )
  screen.getByText(/Line 2 in the last run/)
})

test('keeps and edits the config of an unknown node type', () => {
  const { value } = inspect({ id: 'old', type: 'no-such-type', title: 'Old', config: { speed: 'fast' } })
  screen.getByText('This server does not know this node type.')
  change('Value of speed', 'slow')
  expect(value().config).toEqual({ speed: 'slow' })
})

test('counts the nodes of a for-each body and opens it', async () => {
  let opened = 0
  const body = { id: 'line', type: 'template', title: '', config: { text: 'x' } }
  const { user } = inspect(
    { id: 'each', type: 'for-each', title: 'Each', config: { items: '{{input}}', nodes: [body] } },
    { onOpenBody: () => opened++ },
  )
  screen.getByText('Runs 1 node for each item.')
  await user.click(screen.getByRole('button', { name: 'Open loop body' }))
  expect(opened).toBe(1)
})

test('is read-only for viewers', async () => {
  const { user } = inspect(call, { readOnly: true, onRename: () => undefined, onDelete: () => undefined })
  for (const name of ['Title', 'URL']) expect(textbox(name).readOnly).toBe(true)
  expect(screen.queryByRole('button', { name: /^(Rename|Delete|Duplicate|Clear)/ })).toBeNull()
  await user.click(screen.getByRole('tab', { name: 'JSON' }))
  expect(within(screen.getByRole('tabpanel', { name: 'JSON' })).getByRole('textbox')).toHaveProperty('readOnly', true)
})

test('names the status of a stored run as lists do, and runs of the same second by their ids', () => {
  const at = new Date('2026-11-01T08:00:00Z').toISOString()
  const list = [
    { id: 'exec_00000003', status: 'paused', at },
    { id: 'exec_00000002', status: 'completed', at },
    { id: 'exec_00000001', status: 'completed', at },
  ]
  inspect(call, { runs: { list, onChoose: () => {} } })
  const [first, second, third] = within(screen.getByRole('combobox', { name: 'Run' })).getAllByRole('option')
  expect(first!.textContent).toBe('Last run · Waiting')
  expect(second!.textContent).toMatch(/ · Completed · …00000002$/)
  expect(third!.textContent).toMatch(/ · Completed · …00000001$/)
})
