import { lazy, Suspense } from 'react'

const RunDialog = lazy(async () => ({ default: (await import('../runs/run-dialog')).RunDialog }))

/** The dialog that starts a run, its code fetched when it is first opened; nothing while no blueprint is given. */
export function LazyRunDialog({ blueprintId, onClose }: { blueprintId: string | undefined; onClose: () => void }) {
  if (blueprintId === undefined) return null
  return <Suspense fallback={null}><RunDialog blueprintId={blueprintId} opened onClose={onClose} /></Suspense>
}
