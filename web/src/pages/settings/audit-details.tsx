import { ActionIcon, Tooltip } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Outputs } from '../../api/client'
import { JsonView, KeyValue, Time } from '../../parts'
import { actionWords, byLink } from './audit-words'
import classes from './audit.module.css'
import { auditDetailsText, auditWordsText } from '../../text/settings'

type Entry = Outputs['auditLog']['list']['entries'][number]

/** The button that shows and hides the details of an entry. */
export function DetailsToggle({
  open,
  what,
  onToggle,
  id,
}: {
  open: boolean
  what: string
  onToggle: () => void
  id: string
}) {
  return (
    <Tooltip label={open ? auditDetailsText.hideDetails : auditDetailsText.showDetails}>
      <ActionIcon
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={auditDetailsText.details(what)}
        onClick={onToggle}
      >
        <IconChevronDown size={17} aria-hidden className={classes.chevron} data-open={open || undefined} />
      </ActionIcon>
    </Tooltip>
  )
}

/** All details of an entry: its exact time, the procedure, and the data recorded by the server. */
export function AuditDetails({ of, id }: { of: Entry; id: string }) {
  const pairs: [string, ReactNode][] = [
    [auditDetailsText.when, <Time key="at" at={of.at} absolute />],
    [auditDetailsText.procedure, <code key="action">{of.action}</code>],
    [
      auditDetailsText.target,
      of.targetId !== '' && (
        <span key="target">
          {of.targetType} <code>{of.targetId}</code>
        </span>
      ),
    ],
    [
      auditDetailsText.actor,
      <code key="actor">
        {of.actorId || (of.action === byLink ? auditWordsText.aPersonWithALink : auditDetailsText.theOperator)}
      </code>,
    ],
  ]
  return (
    <div id={id} className={classes.details}>
      <KeyValue pairs={pairs} />
      {Object.keys(of.detail).length > 0 && (
        <JsonView value={of.detail} label={auditDetailsText.entry(actionWords(of), of.at)} plain maxHeight="260px" />
      )}
    </div>
  )
}
