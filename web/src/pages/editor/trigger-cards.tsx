import { UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconPlayerPauseFilled, IconPlus } from '@tabler/icons-react'
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { memo } from 'react'
import { Link } from 'wouter'
import { Time } from '../../parts'
import { kinds, nameOf } from '../triggers/kinds'
import { textOf, type Trigger } from '../triggers/types'
import classes from './trigger-cards.module.css'
import { triggerCardsText } from '../../text/editor'
import { commonText } from '../../text/common'

type TriggerNode = Node<{ trigger: Trigger; open: boolean }, 'trigger'>
type AddNode = Node<{ open: boolean; wired: boolean; more?: string }, 'add-trigger'>
type FirstNode = Node<Record<string, never>, 'add-first'>
/** The cards beside the nodes. They are not part of the map. */
export type BesideNode = TriggerNode | AddNode | FirstNode

/** A trigger on the canvas, which handles the click. */
export const TriggerCard = memo(function TriggerCard({ data: { trigger, open } }: NodeProps<TriggerNode>) {
  const kind = kinds[trigger.trigger_type]
  const name = nameOf(trigger)
  return (
    <UnstyledButton
      className={`${classes.card} nodrag`}
      data-paused={!trigger.is_active || undefined}
      data-open={open || undefined}
      aria-expanded={open}
      title={name}
    >
      <span className={classes.icon}>
        <kind.icon size={20} stroke={1.7} aria-hidden />
      </span>
      <span className={classes.words}>
        <VisuallyHidden>{triggerCardsText.trigger(name, trigger.is_active)}</VisuallyHidden>
        <span className={classes.name} aria-hidden>
          {name}
        </span>
        <span className={classes.sub}>
          <Below trigger={trigger} />
        </span>
      </span>
      <span className={classes.state}>
        {trigger.is_active ? <span className={classes.dot} /> : <IconPlayerPauseFilled size={11} aria-hidden />}
      </span>
      <Handle type="source" position={Position.Right} className={classes.handle} isConnectable={false} aria-hidden />
    </UnstyledButton>
  )
})

/** The card that adds a trigger. */
export const AddTriggerCard = memo(function AddTriggerCard({ data: { open, wired, more } }: NodeProps<AddNode>) {
  return (
    <>
      <UnstyledButton className={`${classes.add} nodrag`} data-open={open || undefined} aria-expanded={open}>
        <IconPlus size={16} aria-hidden />
        {triggerCardsText.addATrigger}
        {wired && (
          <Handle
            type="source"
            position={Position.Right}
            className={classes.handle}
            isConnectable={false}
            aria-hidden
          />
        )}
      </UnstyledButton>
      {more !== undefined && (
        <Link className={`${classes.more} nodrag nopan`} href={more} onClick={(event) => event.stopPropagation()}>
          {triggerCardsText.allTriggers}
        </Link>
      )}
    </>
  )
})

/** The place of the first node of a blueprint. */
export const FirstNodeCard = memo(function FirstNodeCard() {
  return (
    <UnstyledButton className={`${classes.first} nodrag`}>
      <Handle type="target" position={Position.Left} className={classes.handle} isConnectable={false} aria-hidden />
      <span className={classes.icon}>
        <IconPlus size={19} aria-hidden />
      </span>
      <span className={classes.words}>
        <span className={classes.name}>{triggerCardsText.addFirstNode}</span>
        <span className={classes.sub}>{triggerCardsText.noNodesYet}</span>
      </span>
    </UnstyledButton>
  )
})

// What distinguishes it: its state, its next time or its address.
function Below({ trigger }: { trigger: Trigger }) {
  const { trigger_type: type, config } = trigger
  if (!trigger.is_active) return commonText.paused
  if (type === 'scheduled')
    return trigger.next_at ? (
      <>
        {triggerCardsText.next} <Time at={trigger.next_at} />
      </>
    ) : (
      triggerCardsText.noNextRun
    )
  const address = type === 'email' ? textOf(config, 'address') : trigger.url
  if (address) return <code aria-hidden>{address.replace(/^https?:\/\/.*\//, '…/')}</code>
  return kinds[type].title
}
