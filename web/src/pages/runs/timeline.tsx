import { VisuallyHidden } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { alwaysWaits } from './always-waits'
import { describeRow } from './row-words'
import { useNodeTypesLater } from '../../graph/use-node-types'
import { showDuration } from '../../parts/time-words'
import { lookOf } from './status-look'
import { inSight, neighbour, type Row } from './step-rows'
import { type Axis, ticksOn } from './time-axis'
import { isReused, moved, partsOf, placed, type Span, zoomed } from './time-scale'
import classes from './timeline.module.css'
import type { Awaiting } from './types'
import { timelineText } from '../../text/runs'
import { commonText } from '../../text/common'

const rowHeight = 36

/** The props of the timeline. */
export type TimelineProps = {
  rows: Row[]
  whole: Span
  axis: Axis
  /** The visible part of the axis. */
  window: Span
  selected: string | null
  waits: ReadonlyMap<string, Awaiting>
  pauses: ReadonlyMap<string, Span[]>
  onSelect: (address: string) => void
  onToggle: (address: string, open: boolean) => void
  onWindow: (window: Span) => void
  /** The buttons that zoom, in the header of the names. */
  zoom: ReactNode
}

/** The steps of a run over time. Only visible rows are rendered, so that ten thousand steps cost no more than fifty. */
export function Timeline({
  rows,
  whole,
  axis,
  window,
  selected,
  waits,
  pauses,
  onSelect,
  onToggle,
  onWindow,
  zoom,
}: TimelineProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  const types = useNodeTypesLater().data
  const [sight, setSight] = useState({ top: 0, height: 620, width: 0 })
  const [hover, setHover] = useState<{ row: Row; x: number; y: number } | null>(null)
  const { from, to } = inSight(sight.top, sight.height, rowHeight, rows.length)
  const width = useWidth(frame)
  const room = (sight.width || width) - (width < 600 ? 148 : 260) - 10 // of the bars
  const ticks = useMemo(
    () => ticksOn(axis, window, whole.from, width < 600 ? 2 : width < 900 ? 4 : 7, room),
    [axis, window, whole.from, width, room],
  )
  const breaks = axis.breaks.flatMap((one) => {
    const place = placed(one.place, window)
    return place ? [{ ...one, ...place }] : []
  })
  const selectedAt = rows.findIndex((row) => row.address === selected)
  const nested = rows.some((row) => row.within > 0)

  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const look = () => setSight({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth })
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  // The selected row is scrolled into view when the selection changes, not with every change of the run.
  const show = useEffectEvent(() => {
    const element = scroller.current
    if (!element || selectedAt < 0) return
    const top = selectedAt * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight
  })
  const hidden = selectedAt < 0
  useEffect(() => show(), [selected, hidden])

  useWheel(scroller, window, axis.whole, onWindow)

  function press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const row = rows[selectedAt]
    setHover(null)
    const go = (next: Row | null | undefined) => {
      if (next) onSelect(next.address)
    }
    const page = Math.max(1, Math.floor(sight.height / rowHeight) - 1)
    switch (event.key) {
      case 'ArrowDown':
        go(neighbour(rows, selected, 1))
        break
      case 'ArrowUp':
        go(neighbour(rows, selected, -1))
        break
      case 'PageDown':
        go(rows[Math.min(rows.length - 1, Math.max(0, selectedAt) + page)])
        break
      case 'PageUp':
        go(rows[Math.max(0, selectedAt - page)])
        break
      case 'Home':
        go(rows[0])
        break
      case 'End':
        go(rows[rows.length - 1])
        break
      case 'ArrowRight':
        if (row && row.within > 0 && !row.open) onToggle(row.address, true)
        else if (row?.open) go(rows[selectedAt + 1])
        break
      case 'ArrowLeft':
        if (row?.open) onToggle(row.address, false)
        else if (row) go(rows.slice(0, selectedAt).findLast((above) => above.depth < row.depth))
        break
      case 'Enter':
      case ' ':
        if (row && row.within > 0) onToggle(row.address, !row.open)
        break
      case '+':
      case '=':
        onWindow(zoomed(window, axis.whole, 0.5))
        break
      case '-':
        onWindow(zoomed(window, axis.whole, 2))
        break
      default:
        return
    }
    event.preventDefault()
  }

  function point(event: PointerEvent, row: Row): void {
    if (event.pointerType === 'touch') return
    const box = frame.current?.getBoundingClientRect()
    if (box)
      setHover({ row, x: Math.min(event.clientX - box.left + 12, box.width - 240), y: event.clientY - box.top + 16 })
  }

  return (
    <div ref={frame} className={classes.frame}>
      <div className={classes.zoom}>{zoom}</div>
      <div className={classes.axis} aria-hidden style={{ width: sight.width || undefined }}>
        <div className={classes.axisName}>{commonText.step}</div>
        <div className={classes.ticks}>
          {breaks.map(({ place, left, width: share, time }) => (
            <span key={place.from} className={classes.breakLabel} style={{ left: `${left}%`, width: `${share}%` }}>
              {showDuration(time.to - time.from)}
            </span>
          ))}
          {ticks.map(({ at, label }) => {
            const left = placed({ from: at, to: at }, window)?.left ?? 0
            return (
              <span key={at} className={classes.tick} style={{ left: `${left}%` }}>
                {label}
              </span>
            )
          })}
        </div>
      </div>
      <div
        ref={scroller}
        className={classes.scroll}
        role="tree"
        aria-label={timelineText.stepsOverTime}
        tabIndex={0}
        onKeyDown={press}
        aria-activedescendant={selectedAt >= from && selectedAt < to ? `step-row-${selectedAt}` : undefined}
        onScroll={({ currentTarget: { scrollTop, clientHeight, clientWidth } }) => {
          setSight({ top: scrollTop, height: clientHeight, width: clientWidth })
          setHover(null)
        }}
        onPointerLeave={() => setHover(null)}
      >
        <div className={classes.space} role="presentation" style={{ height: rows.length * rowHeight }}>
          {breaks.length > 0 && (
            <div className={classes.breaks} aria-hidden>
              {breaks.map(({ place, left, width: share }) => (
                <span key={place.from} className={classes.break} style={{ left: `${left}%`, width: `${share}%` }} />
              ))}
            </div>
          )}
          {rows.slice(from, to).map((row, offset) => (
            <TimelineRow
              key={row.address}
              row={row}
              at={from + offset}
              whole={whole}
              axis={axis}
              window={window}
              room={room}
              chosen={row.address === selected}
              asked={waits.get(row.address)}
              pauses={pauses.get(row.address)}
              nested={nested}
              onlyWaits={row.step !== undefined && alwaysWaits(types, row.step.nodeType)}
              onSelect={onSelect}
              onToggle={onToggle}
              onPoint={point}
            />
          ))}
        </div>
      </div>
      {hover && (
        <div className={classes.hover} style={{ left: hover.x, top: hover.y }} aria-hidden>
          <strong>{hover.row.title}</strong>
          {describeRow(hover.row, whole, waits.get(hover.row.address))}
        </div>
      )}
    </div>
  )
}

type RowProps = {
  row: Row
  at: number
  whole: Span
  axis: Axis
  window: Span
  room: number
  chosen: boolean
  asked?: Awaiting
  pauses?: Span[]
  /** Some rows can be opened, and names leave space for that. */
  nested: boolean
  onlyWaits: boolean
  onSelect: (address: string) => void
  onToggle: (address: string, open: boolean) => void
  onPoint: (event: PointerEvent, row: Row) => void
}

function TimelineRow({
  row,
  at,
  whole,
  axis,
  window,
  room,
  chosen,
  asked,
  pauses,
  nested,
  onlyWaits,
  onSelect,
  onToggle,
  onPoint,
}: RowProps) {
  const { icon: Icon } = lookOf(row.status)
  const parts = partsOf(row, whole, asked, pauses, onlyWaits)
  const last = parts[parts.length - 1]
  const first = parts[0]
  const bar = first && last && placed(axis.place({ from: first.from, to: last.to }), window)
  const attempts = row.step?.attempt ?? 0
  return (
    // The tree keeps the focus and handles keys.
    <div
      id={`step-row-${at}`}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-selected={chosen}
      aria-expanded={row.within > 0 ? row.open : undefined}
      className={classes.row}
      style={{ top: at * rowHeight, height: rowHeight, ['--depth' as string]: row.depth }}
      onClick={() => onSelect(row.address)}
      onPointerMove={(event) => onPoint(event, row)}
    >
      <div className={classes.name}>
        {nested && row.within === 0 && <span className={classes.unopened} />}
        {row.within > 0 && (
          <span
            className={classes.opener}
            data-open={row.open}
            aria-hidden
            onClick={(event) => {
              event.stopPropagation()
              onToggle(row.address, !row.open)
            }}
          >
            <IconChevronRight size={16} />
          </span>
        )}
        <span className={classes.icon} data-status={row.status}>
          <Icon size={16} stroke={2} aria-hidden />
        </span>
        <VisuallyHidden>{timelineText.step(row.title, row.index, describeRow(row, whole, asked))}</VisuallyHidden>
        <span className={classes.title} aria-hidden>
          {row.title}
        </span>
        {row.index !== undefined && (
          <span className={classes.note} aria-hidden>
            [{row.index}]
          </span>
        )}
        {attempts > 1 && (
          <span className={classes.note} aria-hidden>
            ×{attempts}
          </span>
        )}
        {row.within > 0 && (
          <span className={classes.note} aria-hidden>
            {row.within}{' '}
            {row.kind === 'item' ? timelineText.steps : row.within === 1 ? timelineText.item : timelineText.items}
          </span>
        )}
      </div>
      <div className={classes.bars} aria-hidden>
        {isReused(row, whole) && <span className={classes.reused}>{timelineText.keptFromTheEarlierRun}</span>}
        {parts.map((part) => {
          const place = placed(axis.place(part), window)
          return (
            place && (
              <span
                key={part.from}
                className={classes.bar}
                data-status={row.status}
                data-waits={part.waits}
                data-group={row.within > 0}
                style={{ left: `min(${place.left}%, calc(100% - 4px))`, width: `${place.width}%` }}
              />
            )
          )
        })}
        {bar && <LengthLabel row={row} bar={bar} room={room} last={last.to - first.from} />}
      </div>
    </div>
  )
}

// After the bar if there is space, else before it, else at its start.
const label = 84 // maximum width of a label in pixels

function LengthLabel({
  row,
  bar,
  room,
  last,
}: {
  row: Row
  bar: { left: number; width: number }
  room: number
  last: number
}) {
  const end = bar.left + bar.width
  const text = showDuration(row.step?.durationMs ?? last)
  const after = ((100 - end) / 100) * room >= label
  if (!after && (bar.left / 100) * room < label)
    return (
      <span className={`${classes.length} ${classes.over}`} style={{ left: `calc(${bar.left}% + 4px)` }}>
        <span>{text}</span>
      </span>
    )
  const place = after
    ? { left: `calc(max(${end}%, ${bar.left}% + 4px) + 6px)` }
    : { right: `calc(max(${100 - bar.left}%, 4px) + 6px)` }
  return (
    <span className={classes.length} style={place}>
      {text}
    </span>
  )
}

function useWidth(ref: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(1000)
  useLayoutEffect(() => {
    if (!ref.current) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(entry.contentRect.width)
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [ref])
  return width
}

// The wheel zooms with Ctrl or Cmd (also a pinch on a touchpad) and pans when scrolled sideways. React's own listener
// could not keep the page from zooming.
function useWheel(
  ref: { current: HTMLElement | null },
  window: Span,
  whole: Span,
  onWindow: (window: Span) => void,
): void {
  const turn = useEffectEvent((event: WheelEvent) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault()
      const bars = ref.current?.querySelector(`.${classes.bars}`)?.getBoundingClientRect()
      const share = bars ? Math.min(1, Math.max(0, (event.clientX - bars.left) / bars.width)) : 0.5
      onWindow(zoomed(window, whole, event.deltaY < 0 ? 0.8 : 1.25, window.from + share * (window.to - window.from)))
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && window.to - window.from < whole.to - whole.from) {
      event.preventDefault()
      onWindow(moved(window, whole, event.deltaX / 800))
    }
  })
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const listen = (event: WheelEvent) => turn(event)
    element.addEventListener('wheel', listen, { passive: false })
    return () => element.removeEventListener('wheel', listen)
  }, [ref])
}
