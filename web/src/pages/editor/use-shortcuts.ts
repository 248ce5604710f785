import { useEffect, useEffectEvent } from 'react'
import { isElsewhere } from './use-clipboard'

type Shortcuts = { save: () => void; run?: () => void; undo: () => void; redo: () => void; help: () => void }

/** The shortcuts of the whole page; those of the canvas are in canvas-keys.ts. */
export function useShortcuts({ save, run, undo, redo, help }: Shortcuts): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const key = event.key.toLowerCase()
    const elsewhere = isElsewhere(event.target)
    const inDialog = event.target instanceof HTMLElement && event.target.closest('[role=dialog]') !== null
    const act = (then: () => void) => {
      event.preventDefault()
      then()
    }
    if (event.ctrlKey || event.metaKey) {
      if (key === 's') act(save)
      else if (key === 'enter' && !inDialog && run) act(run)
      else if (elsewhere) return
      else if (key === 'z') act(event.shiftKey ? redo : undo)
      else if (key === 'y') act(redo)
    } else if (event.key === '?' && !elsewhere) act(help)
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event)
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}
