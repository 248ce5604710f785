import { Badge } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconCopy,
  IconFileCheck,
  IconLoader2,
  IconPencil,
  IconPlayerPause,
  IconPlayerSkipForward,
  IconPlayerStop,
  IconPower,
  IconStack2,
  type Icon,
} from '@tabler/icons-react'
import classes from './status-badge.module.css'

type Look = { color: string; icon: Icon; word: string }

const looks: Record<string, Look> = {
  // blueprints
  draft: { color: 'gray', icon: IconPencil, word: 'Draft' },
  published: { color: 'green', icon: IconFileCheck, word: 'Published' },
  // runs and steps
  pending: { color: 'gray', icon: IconCircleDashed, word: 'Pending' },
  running: { color: 'blue', icon: IconLoader2, word: 'Running' },
  paused: { color: 'amber', icon: IconPlayerPause, word: 'Paused' },
  completed: { color: 'green', icon: IconCheck, word: 'Completed' },
  failed: { color: 'red', icon: IconAlertTriangle, word: 'Failed' },
  cancelled: { color: 'gray', icon: IconPlayerStop, word: 'Cancelled' },
  skipped: { color: 'gray', icon: IconPlayerSkipForward, word: 'Skipped' },
  not_found: { color: 'gray', icon: IconBan, word: 'Not found' },
  // decisions of the ledger
  started: { color: 'green', icon: IconCheck, word: 'Started' },
  duplicate: { color: 'violet', icon: IconCopy, word: 'Duplicate' },
  refused: { color: 'red', icon: IconBan, word: 'Refused' },
  coalesced: { color: 'violet', icon: IconStack2, word: 'Coalesced' },
  // triggers
  active: { color: 'green', icon: IconPower, word: 'Active' },
  inactive: { color: 'gray', icon: IconPower, word: 'Inactive' },
}

type Props = {
  /** A status of a blueprint, run, step, firing or trigger, as the server names it. */
  status: string
  /** Another word for it. */
  word?: string
  size?: 'sm' | 'md' | 'lg'
}

/** A status as an icon and a word; the colour only helps. An unknown one is shown by its name. */
export function StatusBadge({ status, word, size = 'md' }: Props) {
  const look = looks[status] ?? { color: 'gray', icon: IconCircleDashed, word: status }
  return (
    <Badge
      color={look.color}
      size={size}
      className={classes.badge}
      leftSection={
        <look.icon
          size={size === 'lg' ? 15 : 13}
          stroke={2.2}
          aria-hidden
          className={status === 'running' ? classes.turning : undefined}
        />
      }
    >
      {word ?? look.word}
    </Badge>
  )
}
