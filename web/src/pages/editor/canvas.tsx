import '@xyflow/react/dist/base.css'
import { useComputedColorScheme } from '@mantine/core'
import {
  Background,
  BackgroundVariant,
  type Connection,
  type Edge,
  type EdgeChange,
  type FinalConnectionState,
  MiniMap,
  type NodeChange,
  Panel,
  ReactFlow,
  useReactFlow,
  useStore,
  type Viewport,
} from '@xyflow/react'
import {
  type DragEvent,
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent as ReactMouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import graph from '../../graph/canvas.module.css'
import { type CardNode, keyOfWire, type Problems, toWires, type WireEdge } from '../../graph/flow'
import { edgeOptions, edgeTypes, isFar, nodeTypes, useFirstView } from '../../graph/graph-canvas'
import { useCards } from '../../graph/use-cards'
import { GRID, snap } from '../../graph/layout'
import { type BlueprintMap, isSequential, MAIN, type Position, positionOf } from '../../graph/map'
import { frameOf, groupsOf } from '../../graph/notes'
import { HEAD, WIDTH } from '../../graph/sizes'
import { Zoom } from '../../graph/zoom'
import classes from './editor.module.css'
import { DRAGGED } from './catalogue'
import { FrameCard, type MarkNode, NoteCard } from './note-cards'
import { setNote } from './notes'
import { connectProblem, isLoose, moveAfter, place, reconnectProblem, splitEdge } from './operations'
import { AddTriggerCard, type BesideNode, FirstNodeCard, TriggerCard } from './trigger-cards'
import type { Beside } from './use-beside'
import { useMarks } from './use-marks'
import type { Spot } from './use-commands'
import type { Editor } from './use-editor'
import { canvasText } from '../../text/editor'

type CanvasNode = CardNode | BesideNode | MarkNode
// React Flow requires the same object in every render.
const editorNodeTypes = {
  ...nodeTypes,
  trigger: TriggerCard,
  'add-trigger': AddTriggerCard,
  'add-first': FirstNodeCard,
  note: NoteCard,
  frame: FrameCard,
}

type Props = {
  editor: Editor
  /** The triggers left of the nodes. */
  beside?: Beside
  problems: ReadonlyMap<string, Problems>
  statuses?: ReadonlyMap<string, string>
  /** The ids of nodes with a pinned output. */
  pinned?: ReadonlySet<string>
  wide: boolean
  /** The last view of each level. */
  views: Map<string, Viewport>
  onKeyDown: (event: KeyboardEvent) => void
  onConnect: (source: string, handle: string, target: string) => void
  onReconnect: (key: string, source: string, handle: string, target: string) => void
  /** Called with a dropped type; with the edge that it was dropped on. */
  onDrop: (type: string, at: Position, edge?: string) => void
  /** Called with the point of the window where a node is to be searched for. */
  onSearch: (x: number, y: number, spot: Spot) => void
  onFit: () => void
  /** Called when the user moves or zooms the view. */
  onLook: () => void
  /** Called once the canvas is drawn. */
  onReady: () => void
  onOpen: (id: string) => void
  /** Called when the user clicks a node or moves the focus to it. */
  onPick: () => void
  /** Called when the user begins to drag a node, which selects it. */
  onGrab: (id: string) => void
  /** Called with the trigger to show, without one to add one. */
  onTrigger: (id?: string) => void
  /** Called to add the first node. */
  onFirst: () => void
  /** Called with a click on the empty canvas. */
  onPane: () => void
  onRefused: (why: string) => void
  /** Overlays of the canvas. */
  children?: ReactNode
}

/** The canvas for editing a map. */
export function Canvas({
  editor,
  beside,
  problems,
  statuses,
  pinned,
  wide,
  views,
  onKeyDown,
  onConnect,
  onReconnect,
  onFit,
  onLook,
  onReady,
  onDrop,
  onSearch,
  onOpen,
  onPick,
  onGrab,
  onTrigger,
  onFirst,
  onPane,
  onRefused,
  children,
}: Props) {
  const { shown: map, readOnly, select } = editor
  const { nodes: chosen, edges: chosenEdges, notes: chosenNotes } = editor.state
  const flow = useReactFlow<CanvasNode, WireEdge>()
  const frame = useRef<HTMLDivElement>(null)
  const levelKey = JSON.stringify(editor.state.level)
  const first = useFirstView(frame, map, beside?.bounds, coveredLeft)
  const view = first && (views.get(levelKey) ?? first)
  const scheme = useComputedColorScheme('light')
  const far = useStore((state) => isFar(state.transform[2]))
  const [moving, setMoving] = useState<ReadonlyMap<string, Position>>()
  const resting = useCards(map, { problems, statuses, pinned, editable: !readOnly })
  const marked = useMemo(
    () => resting.map((card) => (chosen.has(card.id) ? { ...card, selected: true } : card)),
    [resting, chosen],
  )
  const cards = useMemo<CardNode[]>(
    () =>
      moving
        ? marked.map((card) =>
            moving.has(card.id) ? { ...card, position: moving.get(card.id)!, dragging: true } : card,
          )
        : marked,
    [marked, moving],
  )
  const [target, setTarget] = useState<string>() // the edge under a dragged node or type
  const aim = useRef<string>(undefined) // the same, for a drop before the next render
  const wires = useMemo(
    () => toWires(map, { statuses }, target === undefined ? chosenEdges : new Set([target])),
    [map, statuses, chosenEdges, target],
  )
  const marks = useMarks(editor, moving)
  const drawnCards = useMemo<CanvasNode[]>(() => [...marks, ...(beside?.cards ?? []), ...cards], [marks, beside, cards])
  const drawnWires = useMemo(() => (beside ? [...beside.wires, ...wires] : wires), [beside, wires])
  const live = useRef({ editor, chosen, chosenEdges, chosenNotes })
  useEffect(() => {
    live.current = { editor, chosen, chosenEdges, chosenNotes }
  })

  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      const moves = changes.flatMap((change) =>
        change.type === 'position' && change.dragging && change.position
          ? placesOf(live.current.editor.shown, change.id, change.position)
          : [],
      )
      if (moves.length > 0) setMoving((known) => new Map([...(known ?? []), ...moves]))
      const picks = changes.filter((change) => change.type === 'select')
      if (picks.length > 0) {
        const now = live.current
        const [nodes, notes] = [new Set(now.chosen), new Set(now.chosenNotes)]
        for (const { id, selected } of picks) {
          const [set, key] = id.startsWith('note ') ? [notes, id.slice('note '.length)] : [nodes, id]
          if (selected) set.add(key)
          else set.delete(key)
        }
        now.chosen = nodes
        now.chosenNotes = notes
        select(nodes, now.chosenEdges, notes)
      }
    },
    [select],
  )
  const onEdgesChange = useCallback(
    (changes: EdgeChange<WireEdge>[]) => {
      const now = live.current
      const edges = new Set(now.chosenEdges)
      for (const change of changes) {
        if (change.type !== 'select') continue
        if (change.selected) edges.add(keyOfWire(change.id))
        else edges.delete(keyOfWire(change.id))
      }
      now.chosenEdges = edges
      select(now.chosen, edges, now.chosenNotes)
    },
    [select],
  )
  const drag = useCallback((event: MouseEvent | TouchEvent, node: CanvasNode, nodes: CanvasNode[]) => {
    const point = 'clientX' in event ? event : event.touches[0]
    const { shown } = live.current.editor
    aim.current =
      nodes.length === 1 && point
        ? edgeAt(point.clientX, point.clientY, (edge) => takes(shown, edge, node.id))
        : undefined
    setTarget(aim.current)
  }, [])
  const settle = useCallback((_event: unknown, _node: unknown, nodes: CanvasNode[]) => {
    setMoving(undefined)
    setTarget(undefined)
    const now = live.current
    const places = new Map(nodes.flatMap((node) => placesOf(now.editor.shown, node.id, node.position)))
    const edge = nodes.length === 1 ? aim.current : undefined
    aim.current = undefined
    if (edge === undefined)
      now.editor.edit(nodes.length === 1 ? canvasText.moveOfANode : canvasText.moveOfNodes(nodes.length), (map) =>
        placeAll(map, places),
      )
    else
      now.editor.edit(
        canvasText.insertIntoAnEdge,
        (map) => {
          const { id } = nodes[0]!
          const placed = place(map, places)
          return isSequential(map) ? moveAfter(placed, id, sourceOf(edge)) : splitEdge(placed, edge, id)
        },
        { say: canvasText.insertedIntoTheEdge },
      )
  }, [])
  const pulled = useRef<string>(undefined) // the edge whose end is being moved
  const valid = useCallback((wanted: Connection | Edge) => {
    const ends = [wanted.source, wanted.sourceHandle ?? MAIN, wanted.target] as const
    const { shown } = live.current.editor
    return (
      (pulled.current === undefined
        ? connectProblem(shown, ...ends)
        : reconnectProblem(shown, pulled.current, ...ends)) === undefined
    )
  }, [])
  const connectEnd = (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
    if (state.fromNode && state.fromHandle && !state.toNode && pulled.current === undefined) {
      const { clientX: x, clientY: y } = 'changedTouches' in event ? event.changedTouches[0]! : event
      const free = document.elementFromPoint(x, y)?.closest('.react-flow__pane')
      const at = flow.screenToFlowPosition({ x, y })
      const { id } = state.fromNode
      // The handle of the new card comes where the edge was dropped.
      if (free && state.fromHandle.type === 'source')
        onSearch(x, y, { source: id, handle: state.fromHandle.id ?? MAIN, at: { x: at.x, y: at.y - HEAD / 2 } })
      else if (free) onSearch(x, y, { target: id, at: { x: at.x - WIDTH, y: at.y - HEAD / 2 } })
      return
    }
    if (state.isValid || !state.fromNode || !state.toNode || !state.toHandle) return
    const forth = state.fromHandle?.type === 'source'
    if (state.fromHandle?.type === state.toHandle.type) return onRefused(canvasText.dragFromAnOutputOnThe)
    const [source, target] = forth ? [state.fromNode, state.toNode] : [state.toNode, state.fromNode]
    const why = connectProblem(map, source.id, (forth ? state.fromHandle : state.toHandle)?.id ?? MAIN, target.id)
    if (why) onRefused(why)
  }
  const drop = (event: DragEvent) => {
    const type = event.dataTransfer.getData(DRAGGED)
    if (!type) return
    event.preventDefault()
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })
    setTarget(undefined)
    onDrop(type, { x: at.x - WIDTH / 2, y: at.y - HEAD / 2 }, edgeAt(event.clientX, event.clientY))
  }
  const plus = (event: ReactMouseEvent) => {
    const button = (event.target as HTMLElement).closest<HTMLElement>('[data-plus]')
    const id = button?.closest('.react-flow__node')?.getAttribute('data-id')
    if (!button || id === null || id === undefined) return
    event.stopPropagation() // the click does not select the node
    const box = button.getBoundingClientRect()
    const before = button.dataset.before !== undefined
    onSearch(box.right, box.top, before ? { target: id } : { source: id, handle: button.dataset.plus! })
  }
  const focused = (event: FocusEvent) => {
    const target = event.target as HTMLElement
    const id = target.matches('.react-flow__node:focus-visible') ? target.getAttribute('data-id') : null
    if (id !== null && live.current.chosen.size < 2) {
      onPick()
      if (!live.current.chosen.has(id)) select([id])
    }
  }
  return (
    <div
      ref={frame}
      className={`${graph.canvas} ${classes.canvas}`}
      role="group"
      aria-label={canvasText.canvas}
      tabIndex={-1}
      data-far={far || undefined}
      data-nested={editor.state.level.length > 0 || undefined}
      onKeyDown={onKeyDown}
      onFocus={focused}
      onClickCapture={plus}
      onDrop={readOnly ? undefined : drop}
      onDragLeave={() => setTarget(undefined)}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(DRAGGED)) {
          event.preventDefault()
          event.dataTransfer.dropEffect = 'copy'
          setTarget(edgeAt(event.clientX, event.clientY))
        }
      }}
    >
      {view && (
        <ReactFlow<CanvasNode, WireEdge>
          nodes={drawnCards}
          edges={drawnWires}
          nodeTypes={editorNodeTypes}
          edgeTypes={edgeTypes}
          defaultEdgeOptions={edgeOptions}
          defaultViewport={view}
          minZoom={0.05}
          maxZoom={1.75}
          colorMode={scheme}
          onEdgeClick={() => frame.current?.focus({ preventScroll: true })}
          onSelectionEnd={() => frame.current?.focus({ preventScroll: true })}
          onNodesChange={onNodesChange}
          onEdgesChange={onEdgesChange}
          onNodeDragStart={(_event, node) => {
            if (node.type === 'card') onGrab(node.id)
          }}
          onNodeDrag={drag}
          onNodeDragStop={settle}
          onSelectionDragStop={(event, nodes) => settle(event, undefined, nodes)}
          onConnect={(wanted) => onConnect(wanted.source, wanted.sourceHandle ?? MAIN, wanted.target)}
          onConnectEnd={connectEnd}
          isValidConnection={valid}
          edgesReconnectable={!readOnly}
          reconnectRadius={14}
          onReconnectStart={(_event, edge) => {
            pulled.current = keyOfWire(edge.id)
          }}
          onReconnectEnd={() => {
            pulled.current = undefined
          }}
          onReconnect={(edge, wanted) =>
            onReconnect(keyOfWire(edge.id), wanted.source, wanted.sourceHandle ?? MAIN, wanted.target)
          }
          onInit={onReady}
          onMoveStart={(event) => {
            if (event) onLook()
          }}
          onMoveEnd={(_event, at) => void views.set(levelKey, at)}
          onNodeDoubleClick={(_event, node) => {
            if (node.type === 'card') onOpen(node.id)
          }}
          onNodeClick={(_event, node) => {
            if (node.type === 'trigger') onTrigger(node.data.trigger.id)
            else if (node.type === 'add-trigger') onTrigger()
            else if (node.type === 'add-first') onFirst()
            else onPick()
          }}
          onPaneClick={onPane}
          nodesDraggable={!readOnly}
          nodesConnectable={!readOnly}
          edgesFocusable={false}
          deleteKeyCode={null}
          disableKeyboardA11y
          multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
          selectionKeyCode="Shift"
          zoomOnDoubleClick={false}
          snapToGrid
          snapGrid={[GRID, GRID]}
          connectionRadius={32}
          nodeDragThreshold={3}
          nodeClickDistance={3}
          onlyRenderVisibleElements
          elevateNodesOnSelect={false}
          defaultMarkerColor={null}
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={GRID * 3} size={1.5} />
          <Zoom onFit={onFit} />
          {wide && map.nodes.length > 8 && (
            <MiniMap
              pannable
              zoomable
              position="bottom-right"
              ariaLabel={canvasText.minimap}
              style={{ width: 160, height: 100 }}
            />
          )}
          <Panel position="top-center" className={classes.above}>
            {children}
          </Panel>
        </ReactFlow>
      )}
    </div>
  )
}

// The edge at a point of the window, also below a card, that fits.
function edgeAt(x: number, y: number, fits: (edge: string) => boolean = () => true): string | undefined {
  for (const element of document.elementsFromPoint(x, y)) {
    const id = element.closest('.react-flow__edge')?.getAttribute('data-id')
    // The wires of triggers are no edges.
    if (id && /^(order )?\[/.test(id) && fits(keyOfWire(id))) return keyOfWire(id)
  }
  return undefined
}

// Reports whether a dragged node can come into an edge: it has no edges itself, or runs elsewhere in the order.
function takes(map: BlueprintMap, edge: string, id: string): boolean {
  if (!isSequential(map)) return isLoose(map, id)
  const [source, , target] = JSON.parse(edge) as string[]
  return source !== id && target !== id && map.nodes.some((node) => node.id === id)
}

function sourceOf(edge: string): string {
  return (JSON.parse(edge) as string[])[0]!
}

// The width of the canvas that the catalogue covers.
function coveredLeft(): number {
  const palette = document.querySelector<HTMLElement>('#editor-palette')
  return palette ? palette.offsetLeft + palette.offsetWidth : 0
}

// The places of what moves with a card: the node, the note, or the nodes of a group.
function placesOf(map: BlueprintMap, id: string, to: Position): [string, Position][] {
  const at = { x: snap(to.x), y: snap(to.y) }
  const group = groupsOf(map).find((each) => `group ${each.id}` === id)
  if (!group) return [[id, at]]
  const { left, top } = frameOf(map, group)
  const inside = new Set(group.nodes)
  return map.nodes.flatMap((node) => {
    const from = positionOf(node)
    return from && inside.has(node.id) ? [[node.id, { x: from.x + at.x - left, y: from.y + at.y - top }]] : []
  })
}

function placeAll(map: BlueprintMap, places: ReadonlyMap<string, Position>): BlueprintMap {
  let next = place(map, places)
  for (const [id, position] of places) if (id.startsWith('note ')) next = setNote(next, id.slice(5), { position })
  return next
}
