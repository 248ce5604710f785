import { type KeyboardEvent, type PointerEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import classes from './editor.module.css'
import { overlayText } from '../../text/editor'

type Props = {
  /** The element's id. */
  id: string
  side: 'left' | 'right'
  label: string
  /** The width in pixels at first, and its limits. */
  width: number
  least: number
  most: number
  children: ReactNode
}

const step = 24

// Escape leads back to the canvas, unless it first closes a list or clears a search.
function leave(event: KeyboardEvent) {
  const at = event.target as HTMLElement
  if (event.key !== 'Escape' || event.defaultPrevented || at.closest('[aria-expanded="true"][aria-haspopup]')) return
  if (at instanceof HTMLInputElement && at.type === 'search' && at.value !== '') return
  const first = (part: string) => document.querySelector<HTMLElement>(`.react-flow__node${part}`)
  const to = first('.selected[tabindex="0"]') ?? first('[tabindex="0"]') ?? first(' button')
  to?.focus({ preventScroll: true })
}

/**
 * A panel above the canvas, at one side. Its inner edge is dragged or moved with the arrow keys; the browser remembers
 * the width. Escape leads back to the canvas.
 */
export function Overlay({ id, side, label, width: first, least, most, children }: Props) {
  const key = `blueprintd.${id}.width`
  const [width, setWidth] = useState(() => limited(Number(localStorage.getItem(key)) || first))
  function limited(wanted: number): number {
    return Math.round(Math.min(most, Math.max(least, wanted)))
  }
  const keep = (wanted: number) => {
    setWidth(limited(wanted))
    localStorage.setItem(key, String(limited(wanted)))
  }
  const element = useRef<HTMLElement>(null)
  // What else lies above the canvas keeps clear of the panel.
  useLayoutEffect(() => {
    const frame = element.current?.parentElement
    frame?.style.setProperty(`--covered-${side}`, `${width + 10}px`)
    return () => void frame?.style.removeProperty(`--covered-${side}`)
  }, [side, width])
  const grow = side === 'left' ? 1 : -1
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    event.preventDefault()
    const handle = event.currentTarget
    const from = event.clientX
    handle.setPointerCapture(event.pointerId)
    const move = (at: globalThis.PointerEvent) => keep(width + grow * (at.clientX - from))
    handle.addEventListener('pointermove', move)
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', move), { once: true })
  }
  const press = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -step, ArrowRight: step }[event.key]
    if (by === undefined) return
    event.preventDefault()
    keep(width + grow * by)
  }
  return (
    <aside
      ref={element}
      className={classes.overlay}
      data-side={side}
      id={id}
      aria-label={label}
      style={{ width }}
      onKeyDown={leave}
    >
      {children}
      <div
        className={classes.edge}
        role="separator"
        aria-orientation="vertical"
        aria-label={overlayText.widthOf(label)}
        aria-valuenow={width}
        aria-valuemin={least}
        aria-valuemax={most}
        tabIndex={0}
        onPointerDown={drag}
        onKeyDown={press}
      />
    </aside>
  )
}
