import { ActionIcon, Tooltip } from '@mantine/core'
import { IconMaximize, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { Panel, useReactFlow } from '@xyflow/react'
import classes from './canvas.module.css'
import { zoomText } from '../text/graph'

/** The zoom buttons in a corner of the canvas. `onFit` replaces the default that shows everything. */
export function Zoom({ onFit }: { onFit?: () => void }) {
  const flow = useReactFlow()
  const buttons = [
    { label: zoomText.zoomIn, icon: IconZoomIn, act: () => void flow.zoomIn(motion()) },
    { label: zoomText.zoomOut, icon: IconZoomOut, act: () => void flow.zoomOut(motion()) },
    {
      label: zoomText.fitToView,
      icon: IconMaximize,
      act: onFit ?? (() => void flow.fitView({ padding: 0.12, maxZoom: 1, ...motion() })),
    },
  ]
  return (
    <Panel position="bottom-left" className={classes.zoom}>
      {buttons.map(({ label, icon: Sign, act }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon size={30} aria-label={label} onClick={act}>
            <Sign size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
    </Panel>
  )
}

/** The duration of a view change: 0 for users who prefer reduced motion. */
export function motion(): { duration: number } {
  return { duration: matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 200 }
}
