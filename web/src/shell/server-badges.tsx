import { useServerInfo } from '../api/server-info'
import { later } from '../parts/later'

const SpecialBadges = later(() => import('./special-badges')).Component

/** Shows badges in the header for a sandbox or a virtual clock. For other servers no code is loaded. */
export function ServerBadges() {
  const { data: info } = useServerInfo()
  return info && (info.sandbox || info.clock === 'virtual') ? <SpecialBadges info={info} /> : null
}
