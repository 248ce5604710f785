import { type ReactNode, useContext, useMemo } from 'react'
import type { Step } from './path'
import { UnappliedContext } from './unapplied'

/** Says that the paths of the fields within start at a path, and not at the place itself. */
export function UnappliedAt({ path, children }: { path: readonly Step[]; children: ReactNode }) {
  const outer = useContext(UnappliedContext)
  const key = JSON.stringify(path)
  const scope = useMemo(
    () => outer && { ...outer, path: [...outer.path, ...(JSON.parse(key) as Step[])] },
    [outer, key],
  )
  return <UnappliedContext value={scope}>{children}</UnappliedContext>
}
