import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../../test/render'
import { AuditFilters } from './audit-filters'

test('folds the filters of the audit log, and counts those that are set', async () => {
  const changes: object[] = []
  const user = show(
    <AuditFilters
      filters={{ organization: '', area: 'connection', via: 'api', who: '' }}
      onChange={(change) => changes.push(change)}
    />,
  )
  screen.getByRole('search', { name: 'Filter audit log' })
  const button = screen.getByRole('button', { name: 'Filters (2)' })
  expect(document.getElementById(button.getAttribute('aria-controls')!)!.dataset.open).toBeUndefined()
  await user.selectOptions(screen.getByRole('combobox', { name: 'Source' }), 'Command line')
  await user.type(screen.getByRole('searchbox', { name: 'Search by name, action or ID' }), 'key{Enter}')
  expect(changes).toEqual([{ via: 'cli' }, { who: 'key' }])
})
