import { lazy, Suspense } from 'react'
import { useServerInfo } from '../api/server-info'

const SpecialBadges = lazy(() => import('./special-badges'))

/** Says in the header when the server is a sandbox, or its clock virtual. Of the usual one nothing is fetched for it. */
export function ServerBadges() {
  const { data: info } = useServerInfo()
  return info && (info.sandbox || info.clock === 'virtual') ? (
    <Suspense fallback={null}>
      <SpecialBadges info={info} />
    </Suspense>
  ) : null
}
