import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { nodeTypes } from '../../../test/node-types'
import { show } from '../../../test/render'
import { inputsOf, Refusal, serve } from '../../../test/server'
import { FailedGrants } from './failed-grants'
import { TriggerGrant } from './trigger-grant'

const bo = { id: 'bo', name: 'Bo', email: 'bo@example.org' }
const version = (number: string, text: string) => ({
  version: number,
  blueprint_map: { nodes: [{ id: 'say', type: 'template', title: 'Say it', config: { text } }] },
  environment_variables: [],
  createdAt: '2026-01-01T00:00:00Z',
  createdBy: 'bo',
})

/** A server where Bo wrote the newest version of a blueprint, whose trigger acts for the given user. */
function server(principal: object, more: Parameters<typeof serve>[0] = {}) {
  let granted = false
  const calls = serve({
    'node.types': () => nodeTypes,
    'blueprint.getAuthority': () => ({
      version: '1.2.0',
      basis: '1.0.0',
      author: bo,
      triggers: [{ triggerId: 't1', mine: false, granted, principal }],
    }),
    'blueprint.get': () => ({ id: 'b1', title: 'Orders', can_manage: true }),
    'blueprint.versions': () => [version('1.2.0', 'new'), version('1.1.0', 'between'), version('1.0.0', 'old')],
    'blueprint.grant': () => void (granted = true),
    ...more,
  })
  return (path: string) => inputsOf(calls, path)
}

const me = { id: 'ada', name: 'Ada' }

describe('the grant of a trigger', () => {
  test('shows the author and the changes since the last granted version, then grants it', async () => {
    const of = server(me)
    const user = show(<TriggerGrant blueprintId="b1" triggerId="t1" />)
    const note = within(await screen.findByRole('region', { name: 'Grant version 1.2.0 by Bo (bo@example.org)?' }))
    await note.findByText('Changes since version 1.0.0, which you wrote or granted')
    await user.click(note.getByRole('button', { name: 'Grant version 1.2.0' }))
    await waitFor(() => expect(of('blueprint.grant')).toEqual([{ id: 'b1', version: '1.2.0' }]))
    await waitFor(() => expect(screen.queryByRole('region')).toBeNull())
  })

  test('stays, with the reason, when the server refuses', async () => {
    server(me, {
      'blueprint.grant': () => {
        throw new Refusal('CONFLICT', 'version 1.2.0 is not the current version')
      },
    })
    const user = show(<TriggerGrant blueprintId="b1" triggerId="t1" />)
    await user.click(await screen.findByRole('button', { name: 'Grant version 1.2.0' }))
    within(await screen.findByRole('alert')).getByText('Not granted')
    screen.getByText('Version 1.2.0 is not the current version')
  })

  test('is not offered to other users, who see whom to ask', async () => {
    server(bo)
    show(<TriggerGrant blueprintId="b1" triggerId="t1" />)
    await screen.findByText('Not granted by Bo (bo@example.org)')
    expect(screen.queryByRole('button')).toBeNull()
  })
})

describe('the grants of a failed run', () => {
  const failed = (grant: object) =>
    ({
      id: 'r1',
      steps: [{ nodeId: 'call', status: 'failed', error: { code: 'needs_grant', message: 'needs a grant', grant } }],
    }) as unknown as Parameters<typeof FailedGrants>[0]['run']
  const grant = {
    blueprintId: 'b1',
    version: '1.2.0',
    author: bo,
    resource: { kind: 'connection', id: 'c1', name: 'Slack of the shop' },
  }

  test('lists what the run stopped before, then grants and retries', async () => {
    const of = server(me, { 'execution.retry': () => ({ executionId: 'r2' }) })
    const user = show(<FailedGrants run={failed(grant)} mine />, '/runs/r1')
    screen.getByText(/stopped before using the connection “Slack of the shop”/)
    await user.click(screen.getByRole('button', { name: 'Grant version 1.2.0 and retry' }))
    await waitFor(() => expect(of('execution.retry')).toEqual([{ executionId: 'r1' }]))
    expect(of('blueprint.grant')).toEqual([{ id: 'b1', version: '1.2.0' }])
    await waitFor(() => expect(location.pathname).toBe('/runs/r2'))
  })

  test.each([
    ['a run for another user', false, grant, /acts for another user/],
    ['nodes that are no saved version', true, { ...grant, version: undefined }, /unsaved nodes/],
  ])('is not offered for %s', (_case, mine, lacks, reason) => {
    server(me)
    show(<FailedGrants run={failed(lacks)} mine={mine} />)
    screen.getByText(reason)
    expect(screen.queryByRole('button')).toBeNull()
  })
})
