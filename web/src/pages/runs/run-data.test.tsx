import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../../test/render'
import { RunData } from './run-data'
import type { Run } from './types'
import type { RunFacts } from './use-run-facts'

const record = (more: object = {}) => ({
  status: 'completed',
  inputData: { id: '1042' },
  inputVariables: {},
  outputSummary: { output: 'shipped', nodes: {} },
  ...more,
})

function render(status: Run['status'], facts: { record?: unknown; error?: string }) {
  const { error = null } = facts
  const given = { record: 'record' in facts ? facts.record : record(), listed: { error } }
  show(<RunData run={{ status } as Run} facts={given as RunFacts} />)
}

test('shows the input and the result of a completed run', () => {
  render('completed', {})
  expect(screen.getByRole('group', { name: 'Input of the run' }).textContent).toContain('"1042"')
  expect(screen.getByRole('group', { name: 'Result of the run' }).textContent).toContain('"shipped"')
  expect(screen.queryByRole('group', { name: 'Variables of the run' })).toBeNull()
})

test('shows given variables, also without input', () => {
  render('completed', { record: record({ inputData: {}, inputVariables: { city: 'Lisbon' } }) })
  expect(screen.getByRole('group', { name: 'Variables of the run' }).textContent).toContain('"Lisbon"')
  expect(screen.queryByRole('group', { name: 'Input of the run' })).toBeNull()
})

test('shows why a run failed instead of a result', () => {
  render('failed', { error: 'charge: 422' })
  expect(screen.getByRole('alert').textContent).toContain('The run failed')
  screen.getByText('charge: 422')
  expect(screen.queryByRole('group', { name: 'Result of the run' })).toBeNull()
})

test('shows both of a run that completed with errors', () => {
  render('completed', { error: 'mail: refused' })
  screen.getByText('Completed with errors')
  screen.getByRole('group', { name: 'Result of the run' })
})

test('does not call a cancelled run failed', () => {
  render('failed', { error: 'cancelled: too slow' })
  screen.getByText('cancelled: too slow')
  expect(screen.queryByText('The run failed')).toBeNull()
})

test('says why there is nothing to show', () => {
  render('running', { record: record({ inputData: {} }) })
  screen.getByText('No input')
  screen.getByText('Available when the run has ended')
})

test('says that the data of another user is not available', () => {
  render('completed', { record: null })
  expect(screen.getAllByText('Not available')).toHaveLength(2)
})
