import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { show } from '../../../test/render'
import { inputsOf, Refusal, serve } from '../../../test/server'
import { Answers } from './answers'
import type { Awaiting, Run } from './types'
import type { RunFacts } from './use-run-facts'

/** Renders the questions of a paused run; `answers()` returns the sent answers. */
function ask(
  asked: Partial<Awaiting> & Pick<Awaiting, 'kind'>,
  { canManage = true, refuse }: { canManage?: boolean; refuse?: Refusal } = {},
) {
  const run = {
    id: 'r1',
    status: 'paused',
    steps: [{ nodeId: 'ask', nodeTitle: 'Ask the shop', status: 'paused' }],
    logs: [],
    awaitingInputs: [{ nodeId: 'ask', prompt: 'Ship it?', requestedAt: '2026-01-01T00:00:00Z', ...asked }],
  } as unknown as Run
  const facts = { listed: { userId: 'bo' }, blueprint: { can_manage: canManage } } as unknown as RunFacts
  const calls = serve({
    'server.getInfo': () => ({ now: '2026-01-01T00:00:00Z', clock: 'system' }),
    'execution.link': () => ({ url: 'https://host/answer/abc', expiresAt: '2026-01-08T00:00:00Z' }),
    'execution.resume': () => {
      if (refuse) throw refuse
      return { ...run, status: 'running' }
    },
  })
  const told: string[] = []
  const user = show(
    <Answers
      run={run}
      facts={facts}
      onRecord={(after) => told.push(after.status)}
      onStale={() => told.push('stale')}
    />,
  )
  return {
    user,
    told,
    answers: () => inputsOf(calls, 'execution.resume'),
    links: () => inputsOf(calls, 'execution.link'),
  }
}

const sent = (input: unknown) => [{ executionId: 'r1', nodeId: 'ask', ...(input === undefined ? {} : { input }) }]

describe('an approval', () => {
  test('is approved with a comment', async () => {
    const { user, told, answers } = ask({ kind: 'approval' })
    await user.type(screen.getByRole('textbox', { name: 'Comment' }), ' Fine ')
    await user.click(screen.getByRole('button', { name: 'Approve' }))
    await waitFor(() => expect(told).toEqual(['running']))
    expect(answers()).toEqual(sent({ approved: true, comment: 'Fine' }))
  })

  test('is rejected without a comment', async () => {
    const { user, answers } = ask({ kind: 'approval' })
    await user.click(screen.getByRole('button', { name: 'Reject' }))
    await waitFor(() => expect(answers()).toEqual(sent({ approved: false })))
  })

  test('can be answered only by managers of the blueprint', () => {
    ask({ kind: 'approval' }, { canManage: false })
    screen.getByText(/^Only a manager of the blueprint can answer/)
    expect(screen.queryByRole('button')).toBeNull()
  })

  test('offers a link for a person without an account', async () => {
    const { user, links, answers } = ask({ kind: 'approval' })
    await user.click(screen.getByRole('button', { name: 'Copy approval link' }))
    await screen.findByText('https://host/answer/abc')
    expect(await navigator.clipboard.readText()).toBe('https://host/answer/abc')
    expect(links()).toEqual(sent(undefined))
    expect(answers()).toEqual([])
  })

  test('shows that another user answered first', async () => {
    const { user, told } = ask({ kind: 'approval' }, { refuse: new Refusal('CONFLICT', 'was answered already') })
    await user.click(screen.getByRole('button', { name: 'Approve' }))
    await screen.findByText('Already answered')
    expect(told).toEqual(['stale'])
  })
})

describe('a question', () => {
  const schema = {
    type: 'object',
    required: ['room'],
    properties: { room: { enum: ['Library', 'Garden'] }, people: { type: 'integer' } },
  }

  test('is answered with the fields of its schema', async () => {
    const { user, answers } = ask({ kind: 'human', schema })
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Room' }), 'Garden')
    fireEvent.change(screen.getByRole('textbox', { name: 'People' }), { target: { value: '4' } })
    await user.click(screen.getByRole('button', { name: 'Submit' }))
    await waitFor(() => expect(answers()).toEqual(sent({ room: 'Garden', people: 4 })))
  })

  test('shows a refusal at its field', async () => {
    const issue = { path: ['input', 'people'], message: 'must be at most 40' }
    const { user } = ask({ kind: 'human', schema }, { refuse: new Refusal('BAD_REQUEST', issue.message, [issue]) })
    await user.click(await screen.findByRole('button', { name: 'Submit' }))
    await screen.findByText(/Must be at most 40/)
    expect(screen.getByRole('textbox', { name: 'People' }).getAttribute('aria-invalid')).toBe('true')
  })

  test('offers no link to a question that the user may not see', async () => {
    ask({ kind: 'human', schema, prompt: '' })
    await screen.findByRole('button', { name: 'Submit' })
    expect(screen.queryByRole('button', { name: 'Copy approval link' })).toBeNull()
  })

  test('without a schema is answered with text or valid JSON', async () => {
    const { user, answers } = ask({ kind: 'human' })
    await user.click(await screen.findByRole('button', { name: 'Enter JSON' }))
    const box = screen.getByRole('textbox', { name: 'Answer as JSON' })
    fireEvent.change(box, { target: { value: '{"a": ' } })
    await user.click(screen.getByRole('button', { name: 'Submit' }))
    expect(answers()).toEqual([])
    fireEvent.change(box, { target: { value: '{"a": 1}' } })
    await user.click(screen.getByRole('button', { name: 'Submit' }))
    await waitFor(() => expect(answers()).toEqual(sent({ a: 1 })))
  })
})

test('a step with an unknown outcome needs a choice', async () => {
  const { user, answers } = ask({ kind: 'unknown-outcome', options: ['retry', 'mark-done'] })
  expect(screen.getByRole('button', { name: 'Continue' })).toHaveProperty('disabled', true)
  expect(screen.queryByRole('radio', { name: 'End the run' })).toBeNull()
  await user.click(screen.getByRole('radio', { name: 'Mark as done' }))
  fireEvent.change(screen.getByRole('textbox', { name: 'Step output' }), { target: { value: '{"id": 7}' } })
  await user.click(screen.getByRole('button', { name: 'Continue' }))
  await waitFor(() => expect(answers()).toEqual(sent({ action: 'mark-done', output: { id: 7 } })))
})

test('a budget is raised by whole numbers only', async () => {
  const { user, answers } = ask({ kind: 'budget' })
  const tokens = screen.getByRole('textbox', { name: 'Tokens to add' })
  await user.click(screen.getByRole('button', { name: 'Add and continue' }))
  screen.getByText('Enter tokens, calls or both.')
  fireEvent.change(tokens, { target: { value: '1.5' } })
  screen.getByText('Must be a whole number greater than 0.')
  expect(answers()).toEqual([])
  fireEvent.change(tokens, { target: { value: '1000' } })
  await user.click(screen.getByRole('button', { name: 'Add and continue' }))
  await waitFor(() => expect(answers()).toEqual(sent({ tokens: 1000 })))
})

test('a sign-in links only to web addresses', () => {
  ask({ kind: 'oauth', url: 'javascript:alert(1)' })
  expect(screen.queryByRole('link')).toBeNull()
})
