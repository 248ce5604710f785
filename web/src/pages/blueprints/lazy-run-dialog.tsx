import { lazy, Suspense, useEffect, useState } from 'react'

const RunDialog = lazy(async () => ({ default: (await import('../runs/run-dialog')).RunDialog }))

/** The dialog that starts a run; open while a blueprint is given. Its code is fetched when it is first opened. */
export function LazyRunDialog({ blueprintId, onClose }: { blueprintId: string | undefined; onClose: () => void }) {
  const [last, setLast] = useState(blueprintId) // it fades out with what it showed
  if (blueprintId !== undefined && blueprintId !== last) setLast(blueprintId)
  // The dialog gives the focus back only when it was there, closed, before; the first time its code was not.
  useEffect(() => {
    if (blueprintId === undefined) return
    const opener = openerOf(document.activeElement)
    return () => void setTimeout(() => opener?.focus())
  }, [blueprintId])
  if (last === undefined) return null
  return <Suspense fallback={null}><RunDialog blueprintId={last} opened={blueprintId !== undefined} onClose={onClose} /></Suspense>
}

// For an item of a menu, which is gone by then: the button of the menu.
function openerOf(element: Element | null): HTMLElement | null {
  const button = element?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return button ? document.getElementById(button) : (element as HTMLElement | null)
}
