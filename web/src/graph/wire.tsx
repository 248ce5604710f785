import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react'
import { memo } from 'react'
import type { WireEdge } from './flow'
import classes from './wire.module.css'

/** An edge on the canvas; a dashed one is no edge of the map but the order in which its nodes run. */
export const Wire = memo(function Wire({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data, selected, markerEnd }: EdgeProps<WireEdge>) {
  const [path, x, y] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition })
  return (
    <>
      <g className={classes.wire} data-order={data?.order || undefined} data-change={data?.change} data-status={data?.status} data-selected={selected || undefined}>
        <BaseEdge path={path} markerEnd={markerEnd} interactionWidth={22} />
      </g>
      {data?.label && (
        <EdgeLabelRenderer>
          <span className={classes.label} style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y - 14}px)` }}>{data.label}</span>
        </EdgeLabelRenderer>
      )}
    </>
  )
})
