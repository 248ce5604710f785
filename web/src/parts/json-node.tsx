import { Button } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { show } from '../api/json'
import { cuts, entriesOf, kindOf, lineOf, pathOf, sizeOf } from './json-tree'
import { showBytes } from './time-words'
import classes from './json-view.module.css'
import { jsonNodeText } from '../text/parts'
import { commonText } from '../text/common'

type Props = {
  path: string
  name?: string | number
  value: unknown
  isOpen: (path: string) => boolean
  onToggle: (path: string) => void
}

/** One value of a JsonView with its children. */
export function JsonNode({ path, name, value, isOpen, onToggle }: Props) {
  const kind = kindOf(value)
  const size = sizeOf(value)
  const key =
    name === undefined ? null : <span className={classes.key}>{typeof name === 'number' ? name : show(name, 0)}: </span>
  if (size === 0) {
    return (
      <li className={classes.leaf}>
        {key}
        {kind === 'string' ? (
          <Words text={value as string} />
        ) : (
          <span data-kind={kind}>
            {size === 0 && kind === 'array' ? '[]' : kind === 'object' ? '{}' : lineOf(value)}
          </span>
        )}
      </li>
    )
  }
  const open = isOpen(path)
  return (
    <li>
      <button type="button" className={classes.toggle} aria-expanded={open} onClick={() => onToggle(path)}>
        <IconChevronRight size={14} aria-hidden className={classes.chevron} />
        {key}
        <span className={classes.size}>{lineOf(value)}</span>
      </button>
      {open && <Level path={path} value={value} size={size} isOpen={isOpen} onToggle={onToggle} />}
    </li>
  )
}

function Level({ path, value, size, isOpen, onToggle }: Omit<Props, 'name'> & { size: number }) {
  const [limit, setLimit] = useState<number>(cuts.entries)
  return (
    <ul>
      {entriesOf(value, limit).map(([name, item]) => (
        <JsonNode key={name} path={pathOf(path, name)} name={name} value={item} isOpen={isOpen} onToggle={onToggle} />
      ))}
      {size > limit && (
        <li className={classes.leaf}>
          <Button variant="subtle" size="compact-sm" onClick={() => setLimit(limit + cuts.entries)}>
            {jsonNodeText.showMoreLeft((size - limit).toLocaleString('en'))}
          </Button>
        </li>
      )}
    </ul>
  )
}

// A text: one line at first, 20 kB on request, then all of it.
function Words({ text }: { text: string }) {
  const [limit, setLimit] = useState<number>(cuts.line)
  if (text.length <= limit) return <span data-kind="string">{show(text, 0)}</span>
  const whole = limit > cuts.line || text.length <= cuts.text
  return (
    <>
      <span data-kind="string">{show(text.slice(0, limit), 0)}</span>
      <span className={classes.size}> {jsonNodeText.truncatedInTotal(showBytes(text.length))} </span>
      <Button variant="subtle" size="compact-xs" onClick={() => setLimit(whole ? Infinity : cuts.text)}>
        {whole ? commonText.showAll : commonText.showMore}
      </Button>
    </>
  )
}
