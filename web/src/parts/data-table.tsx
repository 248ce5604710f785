import { Skeleton, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './data-table.module.css'
import { commonText } from '../text/common'

/** A column of a DataTable. */
export type Column<Row> = {
  /** Unique among the columns. */
  key: string
  /** The header; also the label of the value on a card. If empty, only screen readers get a header, see `name`. */
  title: string
  /** The header for screen readers if the title is empty: `Actions`. */
  name?: string
  render: (row: Row) => ReactNode
  /** CSS width on wide screens: `120px`. */
  width?: string
  align?: 'start' | 'end'
  /** Names the row: the header of the row, and the title of a card on narrow screens; the first column by default. */
  primary?: boolean
  /** The name of a row where the primary cell says more, for screen readers that repeat it with other cells. */
  brief?: (row: Row) => string
  /** Hidden on narrow screens; `very`: also on laptops. */
  wideOnly?: boolean | 'very'
}

type Props<Row> = {
  /** A caption for screen readers: `Runs, newest first`. */
  caption: string
  columns: Column<Row>[]
  /** undefined: still loading. */
  rows: Row[] | undefined
  rowKey: (row: Row) => string
  /** The number of placeholder rows while loading. */
  skeletonRows?: number
  /** Dims the rows while newer ones load (`query.isPlaceholderData`). */
  stale?: boolean
  /** Shown instead of the table without rows: an EmptyState. */
  empty?: ReactNode
}

/** A list: a table on wide screens, cards on narrow ones, placeholder rows while loading. */
export function DataTable<Row>({ caption, columns, rows, rowKey, skeletonRows = 8, stale = false, empty }: Props<Row>) {
  if (rows && rows.length === 0 && empty !== undefined) return <>{empty}</>
  const primary = columns.find((column) => column.primary)?.key ?? columns[0]?.key
  const cellClass = (column: Column<Row>) =>
    [
      classes.cell,
      column.key === primary && classes.primary,
      column.wideOnly && classes.wideOnly,
      column.wideOnly === 'very' && classes.veryWideOnly,
      column.align === 'end' && classes.end,
      !column.title && classes.bare,
    ]
      .filter(Boolean)
      .join(' ')
  // As cards the rows lose their CSS table layout, and browsers would drop the roles, so they are explicit.
  return (
    <div className={classes.frame} data-stale={stale || undefined}>
      <table className={classes.table} role="table" aria-busy={!rows || stale || undefined}>
        <caption>
          <VisuallyHidden>{caption}</VisuallyHidden>
        </caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column.key}
                role="columnheader"
                scope="col"
                className={cellClass(column)}
                style={{ width: column.width }}
              >
                {column.title || <VisuallyHidden>{column.name ?? commonText.actions}</VisuallyHidden>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows?.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map((column) =>
                column.key === primary ? (
                  <th
                    key={column.key}
                    role="rowheader"
                    scope="row"
                    abbr={column.brief?.(row)}
                    className={cellClass(column)}
                  >
                    {column.render(row)}
                  </th>
                ) : (
                  <td key={column.key} role="cell" className={cellClass(column)} data-label={column.title || undefined}>
                    {column.render(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
          {!rows &&
            Array.from({ length: skeletonRows }, (_, index) => (
              <tr key={index} role="row">
                {columns.map((column, at) => (
                  <td key={column.key} role="cell" className={cellClass(column)}>
                    <Skeleton h={14} my={4} w={at === 0 ? '62%' : '48%'} />
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}
