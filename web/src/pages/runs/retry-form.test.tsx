import { fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../../test/render'
import { inputsOf, serve } from '../../../test/server'
import { Retry } from './retry-form'
import type { Run } from './types'

const step = (nodeId: string, status: string, input: unknown) => ({
  nodeId,
  nodeType: 'set',
  title: nodeId.toUpperCase(),
  status,
  startTime: '2030-01-01T00:00:00Z',
  input,
})

/** Shows the form for a run of three steps, of which the second failed; returns the calls. */
function ask(from?: string, status = 'failed') {
  const run = {
    id: 'r1',
    status,
    steps: [
      step('order', 'completed', { id: 1 }),
      step('charge', status, { card: 'broken' }),
      { ...step('letter', 'pending', null), startTime: null },
    ],
  } as unknown as Run
  const started = () => ({ success: true, executionId: 'r2' })
  const calls = serve({ 'execution.retry': started, 'execution.fork': started })
  const user = show(<Retry run={run} step={from} onClose={() => undefined} />)
  return { user, calls }
}

const input = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Input of this step' })

test('retries what did not complete of a failed run', async () => {
  const { user, calls } = ask()
  expect(screen.queryByRole('textbox', { name: 'Input of this step' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  await waitFor(() => expect(location.pathname).toBe('/runs/r2'))
  expect(inputsOf(calls, 'execution.retry')).toEqual([{ executionId: 'r1' }])
})

test('retries from a step with its input', async () => {
  const { user, calls } = ask('charge')
  expect(JSON.parse(input().value)).toEqual({ card: 'broken' })
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  await waitFor(() => expect(inputsOf(calls, 'execution.retry')).toEqual([{ executionId: 'r1', fromNodeId: 'charge' }]))
  expect(inputsOf(calls, 'execution.fork')).toEqual([])
})

test('forks from a step with another input', async () => {
  const { user, calls } = ask('charge')
  fireEvent.change(input(), { target: { value: '{"card": "visa", "n": 12345678901234567890}' } })
  await user.click(screen.getByRole('button', { name: 'Fork' }))
  await waitFor(() => expect(location.pathname).toBe('/runs/r2'))
  const [sent] = inputsOf(calls, 'execution.fork') as [{ input: { card: string } }]
  expect(sent).toMatchObject({ executionId: 'r1', fromNodeId: 'charge', input: { card: 'visa' } })
})

test('starts nothing with invalid JSON', async () => {
  const { user, calls } = ask('charge')
  fireEvent.change(input(), { target: { value: '{"card": ' } })
  expect(screen.getByRole('button', { name: 'Fork' })).toHaveProperty('disabled', true)
  await user.type(input(), '{Control>}{Enter}{/Control}')
  expect(calls.filter(({ path }) => path.startsWith('execution.'))).toEqual([])
})

test('begins at the first step of a completed run', () => {
  ask(undefined, 'completed')
  expect(JSON.parse(input().value)).toEqual({ id: 1 })
})
