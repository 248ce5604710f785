import '@xyflow/react/dist/base.css'
import { useComputedColorScheme } from '@mantine/core'
import { Background, BackgroundVariant, MarkerType, ReactFlow, ReactFlowProvider, type Viewport } from '@xyflow/react'
import { type KeyboardEvent, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import classes from './canvas.module.css'
import { Card } from './card'
import { toWires } from './flow'
import type { GraphViewProps } from './graph-view-props'
import { GRID, placed } from './layout'
import { type BlueprintMap, readMap } from './map'
import { ShownFrame, ShownNote, toMarks } from './mark-cards'
import { useCards } from './use-cards'
import type { Bounds } from './sizes'
import { firstView } from './view'
import { Wire } from './wire'
import { Zoom } from './zoom'
import { graphCanvasText } from '../text/graph'

/** The node types of React Flow, which requires the same object in every render. */
export const nodeTypes = { card: Card, note: ShownNote, frame: ShownFrame }
/** See {@link nodeTypes}. */
export const edgeTypes = { wire: Wire }
/** Properties of all edges. */
export const edgeOptions = { markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 } }

/** Reports whether texts need to be larger at this zoom. */
export const isFar = (zoom: number) => zoom < 0.85

/** The implementation of GraphView; it includes React Flow, so load it lazily. */
export default function GraphCanvas({ map: given, statuses, selected, onSelect, diff, label }: GraphViewProps) {
  const map = useMemo(() => placed(readMap(given)), [given])
  const resting = useCards(map, { statuses, diff })
  const cards = useMemo(
    () => resting.map((card) => (card.id === selected ? { ...card, selected: true } : card)),
    [resting, selected],
  )
  const drawn = useMemo(() => [...toMarks(map), ...cards], [map, cards])
  const wires = useMemo(() => toWires(map, { statuses, diff }), [map, statuses, diff])
  const scheme = useComputedColorScheme('light')
  const frame = useRef<HTMLDivElement>(null)
  const subject = diff ? Object.keys(diff.nodes) : selected === undefined ? [] : [selected]
  const view = useFirstView(frame, map, undefined, () => 0, subject)
  const [moved, setMoved] = useState<boolean>() // far after the first move
  const far = moved ?? (view !== undefined && isFar(view.zoom))
  const choose = (event: KeyboardEvent) => {
    const id = (event.target as HTMLElement).closest('.react-flow__node')?.getAttribute('data-id')
    if (id && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault()
      onSelect?.(id)
    } else if (event.key === 'Escape') onSelect?.(undefined)
  }
  return (
    <div
      ref={frame}
      className={classes.canvas}
      role="group"
      aria-label={label ?? graphCanvasText.graphOfNodes(map.nodes.length)}
      data-far={far || undefined}
      onKeyDown={choose}
    >
      {view && (
        <ReactFlowProvider>
          <ReactFlow
            nodes={drawn}
            edges={wires}
            nodeTypes={nodeTypes}
            edgeTypes={edgeTypes}
            defaultEdgeOptions={edgeOptions}
            defaultViewport={view}
            minZoom={0.05}
            maxZoom={1.5}
            colorMode={scheme}
            nodesDraggable={false}
            nodesConnectable={false}
            elementsSelectable={onSelect !== undefined}
            nodesFocusable={onSelect !== undefined}
            edgesFocusable={false}
            disableKeyboardA11y
            deleteKeyCode={null}
            onNodeClick={(_event, node) => {
              if (node.type === 'card') onSelect?.(node.id)
            }}
            onPaneClick={() => onSelect?.(undefined)}
            onMove={(_event, { zoom }) => setMoved(isFar(zoom))}
            zoomOnScroll={false}
            preventScrolling={false}
            zoomOnDoubleClick={false}
            onlyRenderVisibleElements
            defaultMarkerColor={null}
            proOptions={{ hideAttribution: true }}
          >
            <Background variant={BackgroundVariant.Dots} gap={GRID * 3} size={1.5} />
            <Zoom />
          </ReactFlow>
        </ReactFlowProvider>
      )}
    </div>
  )
}

/**
 * The initial view, once the size of the frame is known; `beside` as for firstView, `covered` is the width that an
 * overlay covers at the left, `subject` the ids of the nodes to show.
 */
export function useFirstView(
  frame: React.RefObject<HTMLDivElement | null>,
  map: BlueprintMap,
  beside?: Bounds,
  covered: () => number = () => 0,
  subject: readonly string[] = [],
): Viewport | undefined {
  const [view, setView] = useState<Viewport>()
  const begin = useEffectEvent((width: number, height: number) =>
    setView((known) => {
      if (known) return known
      const left = covered()
      const view = firstView(map, width - left, height, beside, subject)
      return { ...view, x: view.x + left }
    }),
  )
  useLayoutEffect(() => {
    if (!frame.current) return
    // Called after everything around has its size.
    const observer = new ResizeObserver(([entry]) => {
      begin(entry!.contentRect.width, entry!.contentRect.height)
      observer.disconnect()
    })
    observer.observe(frame.current)
    return () => observer.disconnect()
  }, [frame])
  return view
}
