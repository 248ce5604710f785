import { Skeleton } from '@mantine/core'
import classes from './canvas.module.css'
import { later } from '../parts/later'
import type { GraphViewProps } from './graph-view-props'
import { graphViewText } from '../text/graph'

const GraphCanvas = later(
  () => import('./graph-canvas'),
  () => <Skeleton height="100%" radius={0} role="img" aria-label={graphViewText.loadingTheGraph} />,
).Component

/**
 * A map as a read-only graph that can be moved and zoomed, with selectable nodes. Its code is loaded when it is first
 * shown.
 */
export function GraphView(props: GraphViewProps) {
  const height = props.height ?? 360
  return (
    <div className={classes.framed} style={{ height, overflow: 'hidden' }}>
      <GraphCanvas {...props} />
    </div>
  )
}
