import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { show } from '../api/json'
import { showField } from './change-words'
import type { FieldChange } from './diff'
import { fold, lineDiff, type FoldedRow } from './line-diff'
import classes from './field-diff.module.css'
import { fieldDiffText } from '../text/diff'

type Props = {
  change: FieldChange
  /** The names of the two sides. */
  names: [string, string]
  /** The whole item was added or removed: one side is enough. */
  only?: 'added' | 'removed'
}

const mostRows = 200

/** One field before and after: side by side on wide screens, below each other on narrow ones. */
export function FieldDiff({ change, names, only }: Props) {
  const { path, before, after } = change
  const [all, setAll] = useState(false)
  const rows = useMemo((): FoldedRow[] => {
    const side = only === 'added' ? after : before
    if (only)
      return text(side)
        .split('\n')
        .map((line) => ({ kind: only, [only === 'added' ? 'right' : 'left']: line }))
    if (before === undefined)
      return text(after)
        .split('\n')
        .map((right) => ({ kind: 'added', right }))
    if (after === undefined)
      return text(before)
        .split('\n')
        .map((left) => ({ kind: 'removed', left }))
    return fold(lineDiff(text(before), text(after)))
  }, [before, after, only])
  const shown = all ? rows : rows.slice(0, mostRows)
  return (
    <table className={classes.table} data-one={only}>
      <caption className={classes.name}>{showField(path) || fieldDiffText.value}</caption>
      <thead className={classes.unseen}>
        <tr>
          {only !== 'added' && <th scope="col">{names[0]}</th>}
          {only !== 'removed' && <th scope="col">{names[1]}</th>}
        </tr>
      </thead>
      <tbody>
        {shown.map((row, index) =>
          row.kind === 'folded' ? (
            <tr key={index}>
              <td colSpan={2} className={classes.folded}>
                {fieldDiffText.unchangedLines(row.count)}
              </td>
            </tr>
          ) : (
            <tr key={index} data-kind={row.kind}>
              {only !== 'added' && (
                <td className={classes.left} data-none={row.left === undefined || undefined}>
                  {row.left !== undefined && <Line sign={row.kind === 'same' ? ' ' : '−'} text={row.left} />}
                </td>
              )}
              {only !== 'removed' && (
                <td className={classes.right} data-none={row.right === undefined || undefined}>
                  {row.right !== undefined && <Line sign={row.kind === 'same' ? ' ' : '+'} text={row.right} />}
                </td>
              )}
            </tr>
          ),
        )}
        {rows.length > mostRows && !all && (
          <tr>
            <td colSpan={2} className={classes.folded}>
              <Button variant="subtle" size="compact-sm" onClick={() => setAll(true)}>
                {fieldDiffText.showMoreLines(rows.length - mostRows)}
              </Button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

const longestLine = 2000

function Line({ sign, text: line }: { sign: string; text: string }) {
  return (
    <code className={classes.line}>
      <span className={classes.sign}>{sign}</span>
      {line.length > longestLine ? `${line.slice(0, longestLine)}…` : line}
    </code>
  )
}

// Strings are shown as they are, all other values as JSON.
function text(value: unknown): string {
  return typeof value === 'string' ? value : show(value)
}
