import { Handle, type NodeProps, Position } from '@xyflow/react'
import {
  IconAlertCircle,
  IconAlertTriangle,
  IconCheck,
  IconLoader2,
  IconMinus,
  IconPencil,
  IconPinFilled,
  IconPlayerPause,
  IconPlayerSkipForward,
  IconPlus,
  type Icon,
} from '@tabler/icons-react'
import { createElement, memo } from 'react'
import classes from './card.module.css'
import type { CardData, CardNode } from './flow'
import { summaryOf } from './looks'
import { HEAD, handleTop, isPlain } from './sizes'
import { TypeIcon } from './type-icon'
import { cardText } from '../text/graph'

const statusIcons = new Map(
  Object.entries<Icon>({
    running: IconLoader2,
    completed: IconCheck,
    failed: IconAlertTriangle,
    paused: IconPlayerPause,
    skipped: IconPlayerSkipForward,
  }),
)
const changeIcons = new Map(Object.entries<Icon>({ added: IconPlus, removed: IconMinus, changed: IconPencil }))

/** A node on the canvas. */
export const Card = memo(function Card({ data, selected }: NodeProps<CardNode>) {
  const { node, handles, free, turn, status, change, problems, pinned, editable } = data
  const summary = summaryOf(node)
  const plain = isPlain(handles)
  return (
    <div
      className={classes.card}
      data-selected={selected || undefined}
      data-status={status}
      data-change={change}
      data-off={node.disabled || undefined}
    >
      <Handle
        type="target"
        position={Position.Left}
        className={classes.handle}
        style={{ top: 30 }}
        isConnectable={editable ?? false}
        aria-hidden
      />
      <div className={classes.head}>
        <TypeIcon type={node.type} />
        <div className={classes.words}>
          <div className={classes.title}>
            {turn !== undefined && <span className={classes.turn}>{turn}</span>}
            <span className={classes.name}>{node.title || node.id}</span>
          </div>
          <div className={classes.summary}>
            {node.disabled ? cardText.disabled : problems?.unfilled ? cardText.notSetUpYet : summary || node.type}
          </div>
        </div>
      </div>
      {!plain && (
        <div className={classes.ways}>
          {handles.map((handle) => (
            <div
              key={handle.id}
              className={classes.way}
              data-kind={wayKind(handle.id)}
              data-dead={handle.dead ? '' : undefined}
              title={handle.dead}
            >
              {handle.label}
            </div>
          ))}
        </div>
      )}
      {handles.map((handle, index) => (
        <Handle
          key={handle.id}
          id={handle.id}
          type="source"
          position={Position.Right}
          className={classes.handle}
          data-kind={wayKind(handle.id)}
          style={{ top: handleTop(handles, index) }}
          isConnectable={editable ?? false}
          aria-hidden
        />
      ))}
      {editable && (
        <button
          type="button"
          className={`${classes.plus} nodrag nopan`}
          style={{ top: HEAD / 2 }}
          data-before
          data-plus
          tabIndex={-1} // the keyboard adds with a key of the canvas
          aria-label={cardText.addANodeBefore(node.title || node.id)}
          title={cardText.addANodeBeforeThis}
        >
          <IconPlus size={15} aria-hidden />
        </button>
      )}
      {editable &&
        handles.map((handle, index) =>
          handle.dead ? null : (
            <button
              key={handle.id}
              type="button"
              className={`${classes.plus} nodrag nopan`}
              style={{ top: handleTop(handles, index) }}
              data-plus={handle.id}
              data-free={free.includes(handle.id) || undefined}
              tabIndex={-1} // the keyboard adds with a key of the canvas
              aria-label={cardText.addANodeAfter(node.title || node.id, handle.label)}
              title={cardText.addANode}
            >
              <IconPlus size={15} aria-hidden />
            </button>
          ),
        )}
      {pinned && (
        <span className={classes.pin} title={cardText.pinned}>
          <IconPinFilled size={13} aria-hidden />
          {cardText.pinnedShort}
        </span>
      )}
      <Corner status={status} change={change} problems={problems} />
    </div>
  )
})

// The upper right corner: problems, else the status of the step, else the change.
function Corner({ status, change, problems }: Pick<CardData, 'status' | 'change' | 'problems'>) {
  if (problems && problems.errors + problems.warnings > 0) {
    const kind = problems.errors > 0 ? 'error' : 'warning'
    const Sign = kind === 'error' ? IconAlertCircle : IconAlertTriangle
    return (
      <span className={classes.corner} data-kind={kind}>
        <Sign size={13} aria-hidden />
        {problems.errors || problems.warnings}
      </span>
    )
  }
  const sign = (status && statusIcons.get(status)) || (change && changeIcons.get(change))
  if (!sign) return null
  return (
    <span className={classes.corner} data-kind={status && statusIcons.has(status) ? status : change}>
      {createElement(sign, {
        size: 13,
        stroke: 2.4,
        'aria-hidden': true,
        className: status === 'running' ? classes.turning : undefined,
      })}
    </span>
  )
}

function wayKind(id: string): string | undefined {
  if (id === 'true' || id === 'approved') return 'yes'
  if (id === 'false' || id === 'rejected' || id === 'error') return 'no'
  return undefined
}
