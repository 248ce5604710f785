import { Button } from '@mantine/core'
import { useId, useState } from 'react'
import { show } from '../api/json'
import { CodeBox } from '../forms/code-box'
import { useKeptText, useNotApplied } from '../forms/unapplied'
import { same } from '../forms/values'
import type { MapNode } from '../graph/map'
import classes from './inspector.module.css'
import { readNodeText } from './node-json'
import { nodeJsonTabText } from '../text/inspector'

const whole: string[] = []

/** The whole node as JSON. It is applied while typing, whenever it is a valid node. */
export function NodeJsonTab({
  node,
  readOnly,
  onApply,
}: {
  node: MapNode
  readOnly: boolean
  onApply: (node: MapNode) => void
}) {
  const id = useId()
  const [draft, setDraft] = useState(useKeptText(whole))
  const read = draft === undefined ? undefined : readNodeText(draft, node.id)
  // The typed text was applied, so a different node comes from elsewhere, such as undo: show it.
  if (read && 'node' in read && !same(read.node, node)) setDraft(undefined)
  const text = draft ?? show(node)
  const fault = read && 'fault' in read ? read : undefined
  const message = fault && nodeJsonTabText.notApplied(fault.fault)
  useNotApplied(whole, text, message)
  const change = (next: string) => {
    setDraft(next)
    const made = readNodeText(next, node.id)
    if ('node' in made && !same(made.node, node)) onApply(made.node)
  }
  return (
    <div>
      <label htmlFor={id} className={classes.smallHead}>
        {nodeJsonTabText.nodeAsJson}
      </label>
      <CodeBox
        id={id}
        value={text}
        readOnly={readOnly}
        rows={14}
        errorLine={fault?.line}
        message={message}
        aria-invalid={fault !== undefined || undefined}
        onFormat={draft !== undefined && !fault ? () => setDraft(undefined) : undefined}
        onChange={change}
      />
      {fault && (
        <Button size="xs" variant="default" mt={4} onClick={() => setDraft(undefined)}>
          {nodeJsonTabText.reset}
        </Button>
      )}
    </div>
  )
}
