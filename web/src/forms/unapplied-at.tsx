import { type ReactNode, useContext, useMemo } from 'react'
import type { Step } from './path'
import { UnappliedContext } from './unapplied'

/** Sets the path at which the paths of the fields within start. */
export function UnappliedAt({ path, children }: { path: readonly Step[]; children: ReactNode }) {
  const outer = useContext(UnappliedContext)
  const key = JSON.stringify(path)
  const scope = useMemo(
    () => outer && { ...outer, path: [...outer.path, ...(JSON.parse(key) as Step[])] },
    [outer, key],
  )
  return <UnappliedContext value={scope}>{children}</UnappliedContext>
}
