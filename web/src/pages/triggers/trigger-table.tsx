import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { type Column, DataTable, StatusBadge, Time } from '../../parts'
import { ActiveSwitch } from './active-switch'
import { kinds, listensTo, nameOf } from './kinds'
import classes from './triggers.module.css'
import { textOf, type Trigger } from './types'
import { addressEnd } from './words'
import { triggerTableText } from '../../text/triggers'
import { commonText } from '../../text/common'

type Props = { rows: Trigger[] | undefined; ofOneBlueprint: boolean; stale?: boolean; empty?: ReactNode }

/** The list of triggers. */
export function TriggerTable({ rows, ofOneBlueprint, stale, empty }: Props) {
  const columns: Column<Trigger>[] = [
    {
      key: 'what',
      title: commonText.trigger,
      primary: true,
      brief: nameOf,
      render: (trigger) => <What trigger={trigger} ofOneBlueprint={ofOneBlueprint} />,
    },
    { key: 'active', title: commonText.active, width: '90px', render: (trigger) => <ActiveSwitch trigger={trigger} /> },
    {
      key: 'next',
      title: triggerTableText.nextRun,
      width: '130px',
      render: (trigger) => (
        <Time
          at={trigger.next_at}
          none={trigger.trigger_type === 'scheduled' ? triggerTableText.none : triggerTableText.onDelivery}
        />
      ),
    },
    {
      key: 'last',
      title: triggerTableText.lastFiring,
      width: '200px',
      render: (trigger) => <Last trigger={trigger} />,
    },
  ]
  return (
    <DataTable
      caption={commonText.triggers}
      columns={columns}
      rows={rows}
      rowKey={(trigger) => trigger.id}
      skeletonRows={6}
      stale={stale}
      empty={empty}
    />
  )
}

function What({ trigger, ofOneBlueprint }: { trigger: Trigger; ofOneBlueprint: boolean }) {
  const kind = kinds[trigger.trigger_type]
  const end = addressEnd(trigger.url)
  const listens = textOf(trigger.config, 'label') ? listensTo(trigger.trigger_type, trigger.config) : ''
  const starts = ofOneBlueprint ? '' : triggerTableText.starts(trigger.blueprint_title)
  const name = nameOf(trigger)
  const below = [listens, starts].filter(Boolean).join(' · ') || kind.title
  const said = [name, below].some((text) => text.startsWith(kind.title))
  return (
    <div className={classes.what}>
      <kind.icon
        size={20}
        stroke={1.7}
        className={classes.kind}
        {...(said ? { 'aria-hidden': true } : { role: 'img', 'aria-label': kind.title })}
      />
      <div>
        <Anchor component={Link} href={`/triggers/${trigger.id}`} fw={550} inherit>
          {name}
        </Anchor>
        <div className={classes.sub}>
          {below}
          {end && <span className={classes.tail}>{triggerTableText.urlEndsIn(end)}</span>}
          <span>{triggerTableText.runsAs(trigger.creator_name)}</span>
        </div>
        {trigger.paused_reason && (
          <div className={classes.paused}>
            {triggerTableText.pausedByTheServer} {trigger.paused_reason.split(/[,;]/)[0]}
          </div>
        )}
      </div>
    </div>
  )
}

function Last({ trigger: { last_firing: last } }: { trigger: Trigger }) {
  if (!last) return <Time at={null} none={triggerTableText.noneYet} />
  return (
    <div className={classes.stack} title={last.reason}>
      <StatusBadge status={last.decision} size="sm" />
      <span className={classes.sub}>
        <Time at={last.receivedAt} past />
      </span>
    </div>
  )
}
