/** How states look in the pictures of this area; StatusBadge of the parts says them in words. */
import {
  IconAlertTriangle,
  IconCheck,
  IconCircleDashed,
  IconHandStop,
  IconLoader2,
  IconPlayerSkipForward,
  type Icon,
} from '@tabler/icons-react'

const looks: Record<string, { icon: Icon; word: string }> = {
  completed: { icon: IconCheck, word: 'completed' },
  failed: { icon: IconAlertTriangle, word: 'failed' },
  running: { icon: IconLoader2, word: 'running' },
  paused: { icon: IconHandStop, word: 'waits for an answer' },
  skipped: { icon: IconPlayerSkipForward, word: 'skipped' },
  pending: { icon: IconCircleDashed, word: 'not begun' },
}

/** The icon of a state and its word for a sentence. */
export function lookOf(status: string): { icon: Icon; word: string } {
  return looks[status] ?? { icon: IconCircleDashed, word: status }
}
