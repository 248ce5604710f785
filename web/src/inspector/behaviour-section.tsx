import { UnstyledButton } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { useId, useMemo, useState } from 'react'
import { SchemaForm } from '../forms/schema-form'
import { fromEntries } from '../forms/values'
import type { FormIssue } from '../forms/types'
import type { MapNode } from '../graph/map'
import { behaviourKeys, behaviourSchema, behaviourSummary } from './behaviour'
import classes from './inspector.module.css'
import type { NodeTypeInfo } from './types'
import { behaviourSectionText } from '../text/inspector'

type Props = {
  node: MapNode
  type: NodeTypeInfo | undefined
  issues: readonly FormIssue[]
  readOnly: boolean
  onChange: (node: MapNode) => void
  /** Each new object opens the section. */
  open: object | undefined
}

/** How a node runs: error handling, retries, limits. Collapsed at first. */
export function Behaviour({ node, type, issues, readOnly, onChange, open: wish }: Props) {
  const id = useId()
  const mine = issues.filter((issue) => behaviourKeys.some((key) => key === issue.path[0]))
  const [open, setOpen] = useState(mine.length > 0)
  const [opened, setOpened] = useState(open) // keeps the fields mounted, because unapplied texts would be lost with them
  if (open && !opened) setOpened(true)
  const [seen, setSeen] = useState<object>()
  if (wish !== seen) {
    setSeen(wish)
    if (wish) setOpen(true)
  }
  const schema = useMemo(() => behaviourSchema(node, type), [node, type])
  const value = fromEntries(behaviourKeys.filter((key) => node[key] !== undefined).map((key) => [key, node[key]]))
  const summary = behaviourSummary(node)
  const change = (next: unknown) => {
    const given = next as Record<string, unknown>
    const kept = Object.entries(node).filter(
      ([key]) => !behaviourKeys.some((one) => one === key) || Object.hasOwn(given, key),
    )
    const merged = kept.map(([key, old]): [string, unknown] => [
      key,
      Object.hasOwn(given, key) && behaviourKeys.some((one) => one === key) ? given[key] : old,
    ])
    const fresh = Object.entries(given).filter(([key]) => !Object.hasOwn(node, key))
    onChange(fromEntries([...merged, ...fresh]) as MapNode)
  }
  return (
    <section className={classes.section} aria-labelledby={`${id}-head`}>
      <h3 className={classes.sectionHead}>
        <UnstyledButton
          id={`${id}-head`}
          className={classes.toggle}
          aria-expanded={open}
          aria-controls={`${id}-body`}
          onClick={() => setOpen(!open)}
        >
          <IconChevronRight size={16} aria-hidden data-open={open || undefined} />
          {behaviourSectionText.behaviour}
          {!open && (
            <span className={classes.summary}>
              {mine.length > 0 ? behaviourSectionText.hasProblems : summary || behaviourSectionText.default}
            </span>
          )}
        </UnstyledButton>
      </h3>
      <div id={`${id}-body`} data-under="behaviour" hidden={!open}>
        {opened && <SchemaForm schema={schema} value={value} onChange={change} issues={mine} readOnly={readOnly} />}
      </div>
    </section>
  )
}
