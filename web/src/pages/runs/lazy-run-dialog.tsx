import { useEffect, useState } from 'react'
import { later } from '../../parts/later'
import { giveBack, openerOf } from '../../parts/opener'
import type { Start } from './run-dialog'

const RunDialog = later(async () => ({ default: (await import('./run-dialog')).RunDialog })).Component

/** The dialog that starts a run; open while a blueprint is given. Its code is loaded when it is first opened. */
export function LazyRunDialog({
  blueprintId,
  onClose,
  onStarted,
  start,
}: {
  blueprintId: string | undefined
  onClose: () => void
  onStarted?: (executionId: string) => void
  start?: Start
}) {
  const [last, setLast] = useState(blueprintId) // keeps its content while it fades out
  if (blueprintId !== undefined && blueprintId !== last) setLast(blueprintId)
  // The dialog returns the focus only if it was mounted before it opened; the first time its code was not loaded.
  useEffect(() => {
    if (blueprintId === undefined) return
    const opener = openerOf(document.activeElement)
    return () => giveBack(opener)
  }, [blueprintId])
  if (last === undefined) return null
  return (
    <RunDialog
      blueprintId={last}
      opened={blueprintId !== undefined}
      onClose={onClose}
      onStarted={onStarted}
      start={start}
    />
  )
}
