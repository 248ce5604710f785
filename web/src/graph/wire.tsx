import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react'
import { memo } from 'react'
import { detourPath } from './detour'
import type { WireEdge } from './flow'
import classes from './wire.module.css'

/** An edge on the canvas. A dashed one is not stored in the map: it shows the sequence of the nodes. */
export const Wire = memo(function Wire({
  sourceX,
  sourceY,
  targetX,
  targetY,
  sourcePosition,
  targetPosition,
  data,
  selected,
  markerEnd,
}: EdgeProps<WireEdge>) {
  const [bezier, middleX, middleY] = getBezierPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
  })
  // While a card is dragged, the detours of its edges are those of its old position.
  const around = data?.detour && sourceX < data.detour.from && targetX > data.detour.to ? data.detour : undefined
  const path = around ? detourPath({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, around) : bezier
  const [x, y] = around ? [(around.from + around.to) / 2, around.y] : [middleX, middleY]
  return (
    <>
      <g
        className={classes.wire}
        data-order={data?.order || data?.beside === 'none' || undefined}
        data-change={data?.change}
        data-status={data?.status}
        data-selected={selected || undefined}
      >
        <BaseEdge path={path} markerEnd={markerEnd} interactionWidth={data?.beside ? 0 : 22} />
      </g>
      {data?.label && (
        <EdgeLabelRenderer>
          <span className={classes.label} style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y - 14}px)` }}>
            {data.label}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  )
})
