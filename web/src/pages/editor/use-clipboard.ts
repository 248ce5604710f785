import { useEffect, useRef } from 'react'

type Actions = {
  /** The text of the selection; undefined for none. */
  copy: () => string | undefined
  cut: () => string | undefined
  paste: (text: string) => void
}

/** Handles the browser's copy and paste commands everywhere on the page except in a field or a dialog. */
export function useClipboard(actions: Actions): void {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const take = (event: ClipboardEvent, text: string | undefined) => {
      if (text === undefined || !event.clipboardData) return
      event.preventDefault()
      event.clipboardData.setData('text/plain', text)
    }
    const listen = (name: 'copy' | 'cut' | 'paste') => (event: ClipboardEvent) => {
      if (event.defaultPrevented || isElsewhere(event.target)) return
      if (name === 'paste') {
        event.preventDefault()
        latest.current.paste(event.clipboardData?.getData('text/plain') ?? '')
      } else if (!getSelection()?.toString()) take(event, latest.current[name]())
    }
    const listeners = (['copy', 'cut', 'paste'] as const).map((name) => [name, listen(name)] as const)
    for (const [name, listener] of listeners) document.addEventListener(name, listener)
    return () => {
      for (const [name, listener] of listeners) document.removeEventListener(name, listener)
    }
  }, [])
}

/** Reports whether an event belongs to a field or a dialog, not to the canvas. */
export function isElsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest('[role=dialog], [role=menu], [role=listbox]') !== null
  )
}
