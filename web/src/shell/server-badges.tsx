import { lazy, Suspense } from 'react'
import { useServerInfo } from '../api/server-info'

const SpecialBadges = lazy(() => import('./special-badges'))

/** Shows badges in the header for a sandbox or a virtual clock. For other servers no code is loaded. */
export function ServerBadges() {
  const { data: info } = useServerInfo()
  return info && (info.sandbox || info.clock === 'virtual') ? (
    <Suspense fallback={null}>
      <SpecialBadges info={info} />
    </Suspense>
  ) : null
}
