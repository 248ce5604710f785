import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../test/render'
import { DataTable } from './data-table'

test('heads each row with the cell that names it', () => {
  show(
    <DataTable
      caption="Keys"
      columns={[
        { key: 'last4', title: 'Ends in', render: (row) => row.last4 },
        { key: 'name', title: 'Name', primary: true, render: (row) => row.name },
      ]}
      rows={[{ name: 'Laptop', last4: '1f2e' }]}
      rowKey={(row) => row.name}
    />,
  )
  const [, row] = within(screen.getByRole('table', { name: 'Keys' })).getAllByRole('row')
  const header = within(row!).getByRole('rowheader', { name: 'Laptop' })
  expect([header.tagName, header.getAttribute('scope')]).toEqual(['TH', 'row'])
  expect(
    within(row!)
      .getAllByRole('cell')
      .map((cell) => cell.textContent),
  ).toEqual(['1f2e'])
})
