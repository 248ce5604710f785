import { Button, Group } from '@mantine/core'
import { useId, useState } from 'react'
import { show } from '../api/json'
import { CodeBox } from '../forms/code-box'
import { same } from '../forms/values'
import type { MapNode } from '../graph/map'
import classes from './inspector.module.css'
import { readNodeText } from './node-json'

/** The whole node as JSON. It takes effect by a button, once it is a node. */
export function NodeJsonTab({ node, readOnly, onApply }: { node: MapNode; readOnly: boolean; onApply: (node: MapNode) => void }) {
  const id = useId()
  const [draft, setDraft] = useState<string>()
  const [base, setBase] = useState(node)
  // Changed elsewhere (by undo, say) while nothing is typed here: show that. With a draft the draft stays.
  if (base !== node && draft === undefined) setBase(node)
  const text = draft ?? show(node)
  const read = readNodeText(text, node.id)
  const changed = draft !== undefined && !('node' in read && same(read.node, node))
  const stale = draft !== undefined && !same(base, node)
  return (
    <div>
      <label htmlFor={id} className={classes.smallHead}>The node as JSON</label>
      <CodeBox
        id={id}
        value={text}
        readOnly={readOnly}
        rows={14}
        errorLine={'fault' in read ? read.line : undefined}
        message={'fault' in read ? read.fault : stale ? 'The node was changed meanwhile; Apply puts this text in its place.' : undefined}
        aria-invalid={'fault' in read || undefined}
        onFormat={'node' in read ? () => setDraft(show(read.node)) : undefined}
        onChange={setDraft}
      />
      {!readOnly && (
        <Group gap="xs" mt={4}>
          <Button size="xs" disabled={!changed || 'fault' in read} onClick={() => { if ('node' in read) { onApply(read.node); setDraft(undefined) } }}>Apply</Button>
          <Button size="xs" variant="default" disabled={draft === undefined} onClick={() => setDraft(undefined)}>Reset</Button>
        </Group>
      )}
    </div>
  )
}
