import { Button, CopyButton, Group } from '@mantine/core'
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react'
import { type ReactNode, useMemo, useState } from 'react'
import { show } from '../api/json'
import { download } from './download'
import { JsonNode } from './json-node'
import { openAtFirst } from './json-tree'
import classes from './json-view.module.css'
import { jsonViewText } from '../text/parts'
import { commonText } from '../text/common'

type Props = {
  value: unknown
  /** A label for screen readers, and the name of the saved file: `Output of step hello`. */
  label: string
  /** The approximate number of initially visible rows. */
  rows?: number
  /** Hides the buttons for copying and saving. */
  plain?: boolean
  /** Shown left of the buttons: a heading. */
  heading?: ReactNode
  /** The CSS height from which it scrolls: `320px`. */
  maxHeight?: string
}

/**
 * A JSON value as an expandable tree; long levels and texts are truncated, and can be shown, copied and saved whole.
 */
export function JsonView({ value, label, rows = 40, plain = false, heading, maxHeight }: Props) {
  const first = useMemo(() => openAtFirst(value, rows), [value, rows])
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set())
  const toggle = (path: string) => {
    const next = new Set(turned)
    if (!next.delete(path)) next.add(path)
    setTurned(next)
  }
  return (
    <div className={classes.view} role="group" aria-label={label}>
      {!plain && (
        <div className={classes.tools}>
          {heading}
          <Group gap={4} wrap="nowrap" ml="auto">
            <CopyAll value={value} />
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              leftSection={<IconDownload size={15} aria-hidden />}
              onClick={() => download(fileName(label), show(value))}
            >
              {commonText.download}
            </Button>
          </Group>
        </div>
      )}
      <div
        className={classes.tree}
        style={{ maxHeight }}
        tabIndex={maxHeight ? 0 : undefined}
        role={maxHeight ? 'region' : undefined}
        aria-label={maxHeight ? jsonViewText.value(label) : undefined}
      >
        <ul>
          <JsonNode path="" value={value} isOpen={(path) => first.has(path) !== turned.has(path)} onToggle={toggle} />
        </ul>
      </div>
    </div>
  )
}

// The text of a large value is only created on request.
function CopyAll({ value }: { value: unknown }) {
  const [text, setText] = useState('')
  return (
    <CopyButton value={text} timeout={2000}>
      {({ copied, copy }) => (
        <Button
          variant="subtle"
          color={copied ? 'green' : 'gray'}
          size="compact-sm"
          leftSection={copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
          onPointerDown={() => setText(show(value))}
          onFocus={() => setText(show(value))}
          onClick={copy}
        >
          {copied ? commonText.copied : commonText.copy}
        </Button>
      )}
    </CopyButton>
  )
}

function fileName(label: string): string {
  const name = label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${name || 'value'}.json`
}
