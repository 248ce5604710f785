import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../test/render'
import { FilterBar } from './filter-bar'

test('folds and unfolds the filters, and counts those that are set', async () => {
  const user = show(
    <FilterBar label="Filter runs" search={<input aria-label="Search" />} set={2}>
      <select aria-label="Status" />
    </FilterBar>,
  )
  const button = screen.getByRole('button', { name: 'Filters (2)' })
  const folded = document.getElementById(button.getAttribute('aria-controls')!)!
  expect(button.getAttribute('aria-expanded')).toBe('false')
  expect(folded.dataset.open).toBeUndefined()
  await user.click(button)
  expect(button.getAttribute('aria-expanded')).toBe('true')
  expect(folded.dataset.open).toBe('true')
})
