/** Icons of statuses in the charts and timelines of this folder; StatusBadge shows them as text. */
import {
  IconAlertTriangle,
  IconCheck,
  IconCircleDashed,
  IconHandStop,
  IconLoader2,
  IconPlayerSkipForward,
  type Icon,
} from '@tabler/icons-react'
import { statusLookText } from '../../text/runs'

const looks = new Map(
  Object.entries<{ icon: Icon; word: string }>({
    completed: { icon: IconCheck, word: statusLookText.completed },
    failed: { icon: IconAlertTriangle, word: statusLookText.failed },
    running: { icon: IconLoader2, word: statusLookText.running },
    paused: { icon: IconHandStop, word: statusLookText.waitingForInput },
    skipped: { icon: IconPlayerSkipForward, word: statusLookText.skipped },
    pending: { icon: IconCircleDashed, word: statusLookText.notStarted },
  }),
)

/** The icon of a status and its word in a sentence. */
export function lookOf(status: string): { icon: Icon; word: string } {
  return looks.get(status) ?? { icon: IconCircleDashed, word: status }
}
