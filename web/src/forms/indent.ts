/** A text with a selection. */
export type Edited = { text: string; from: number; to: number }

const step = '  '

/** Indents the lines of a selection by one step; without a selection inserts the step at the caret. */
export function indent({ text, from, to }: Edited): Edited {
  if (from === to)
    return { text: text.slice(0, from) + step + text.slice(to), from: from + step.length, to: from + step.length }
  return overLines({ text, from, to }, (line) => (line === '' ? line : step + line))
}

/** Unindents the lines of a selection by one step. */
export function outdent(edited: Edited): Edited {
  return overLines(edited, (line) => line.replace(/^( {1,2}|\t)/, ''))
}

/** A new line with the indentation of the previous one, and one more step after an open bracket. */
export function newLine({ text, from, to }: Edited): Edited {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const line = text.slice(start, from)
  const blank = /^[ \t]*/.exec(line)![0]
  const deeper = /[{[(]\s*$/.test(line)
  const closes = deeper && /^[ \t]*[}\])]/.test(text.slice(to))
  const added = `\n${blank}${deeper ? step : ''}`
  const caret = from + added.length
  return { text: text.slice(0, from) + added + (closes ? `\n${blank}` : '') + text.slice(to), from: caret, to: caret }
}

function overLines({ text, from, to }: Edited, change: (line: string) => string): Edited {
  const start = text.lastIndexOf('\n', from - 1) + 1
  // A selection that ends at the start of a line does not include that line.
  const last = to > from && text[to - 1] === '\n' ? to - 1 : to
  const end = text.indexOf('\n', last) < 0 ? text.length : text.indexOf('\n', last)
  const lines = text.slice(start, end).split('\n')
  const fresh = lines.map(change)
  const grown = fresh.join('\n').length - (end - start)
  const first = fresh[0]!.length - lines[0]!.length
  return {
    text: text.slice(0, start) + fresh.join('\n') + text.slice(end),
    from: Math.max(start, from + first),
    to: Math.max(start, to + grown),
  }
}
