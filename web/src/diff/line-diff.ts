/** A row of two texts side by side. `same` has both; a missing side is undefined. */
export type LineRow = { kind: 'same' | 'changed' | 'added' | 'removed'; left?: string; right?: string }
/** Rows, with long unchanged stretches folded to their number. */
export type FoldedRow = LineRow | { kind: 'folded'; count: number }

const largest = 1_500 // maximum lines on each side that are compared one by one

/** Compares two texts line by line. In longer texts, everything between the common beginning and end counts as replaced. */
export function lineDiff(before: string, after: string): LineRow[] {
  const [left, right] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < left.length && start < right.length && left[start] === right[start]) start++
  let end = 0
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  )
    end++
  const same = (lines: string[]): LineRow[] => lines.map((line) => ({ kind: 'same', left: line, right: line }))
  return [
    ...same(left.slice(0, start)),
    ...middle(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...same(end ? left.slice(-end) : []),
  ]
}

/** Folds unchanged lines, except for some around each change. */
export function fold(rows: LineRow[], around = 2): FoldedRow[] {
  const near = new Set<number>()
  rows.forEach((row, index) => {
    if (row.kind !== 'same') for (let at = index - around; at <= index + around; at++) near.add(at)
  })
  const folded: FoldedRow[] = []
  for (let at = 0; at < rows.length; at++) {
    if (near.has(at)) {
      folded.push(rows[at]!)
      continue
    }
    let count = 1
    while (at + 1 < rows.length && !near.has(at + 1)) [at, count] = [at + 1, count + 1]
    if (count === 1) folded.push(rows[at]!)
    else folded.push({ kind: 'folded', count })
  }
  return folded
}

function middle(left: string[], right: string[]): LineRow[] {
  if (left.length > largest || right.length > largest) return pair(left, right)
  const lengths = common(left, right)
  const rows: LineRow[] = []
  let [i, j] = [0, 0]
  let [gone, come]: [string[], string[]] = [[], []]
  const flush = () => {
    rows.push(...pair(gone, come))
    ;[gone, come] = [[], []]
  }
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      flush()
      rows.push({ kind: 'same', left: left[i++], right: right[j++] })
    } else if (j >= right.length || (i < left.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      gone.push(left[i++]!)
    else come.push(right[j++]!)
  }
  flush()
  return rows
}

// The lengths of the longest common subsequences of the remaining lines from i and j on.
function common(left: string[], right: string[]): Uint16Array[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1))
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        left[i] === right[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
    }
  }
  return lengths
}

// Removed lines and the added lines in their place, side by side.
function pair(gone: string[], come: string[]): LineRow[] {
  return Array.from({ length: Math.max(gone.length, come.length) }, (_, at): LineRow => {
    const [left, right] = [gone[at], come[at]]
    return { kind: left === undefined ? 'added' : right === undefined ? 'removed' : 'changed', left, right }
  })
}
