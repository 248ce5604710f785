import { Badge } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconCopy,
  IconFileCheck,
  IconHandStop,
  IconLoader2,
  IconPencil,
  IconPlayerSkipForward,
  IconPlayerStop,
  IconPower,
  IconStack2,
  type Icon,
} from '@tabler/icons-react'
import classes from './status-badge.module.css'
import { statusBadgeText } from '../text/parts'
import { commonText } from '../text/common'

type Look = { color: string; icon: Icon; word: string }

const looks = new Map(
  Object.entries<Look>({
    // blueprints
    draft: { color: 'gray', icon: IconPencil, word: commonText.draft },
    published: { color: 'green', icon: IconFileCheck, word: commonText.published },
    // runs and steps
    pending: { color: 'gray', icon: IconCircleDashed, word: statusBadgeText.pending },
    running: { color: 'blue', icon: IconLoader2, word: statusBadgeText.running },
    paused: { color: 'amber', icon: IconHandStop, word: statusBadgeText.waiting },
    completed: { color: 'green', icon: IconCheck, word: statusBadgeText.completed },
    failed: { color: 'red', icon: IconAlertTriangle, word: statusBadgeText.failed },
    cancelled: { color: 'gray', icon: IconPlayerStop, word: statusBadgeText.cancelled },
    skipped: { color: 'gray', icon: IconPlayerSkipForward, word: statusBadgeText.skipped },
    not_found: { color: 'gray', icon: IconBan, word: commonText.notFound },
    // decisions of the ledger
    started: { color: 'green', icon: IconCheck, word: commonText.started },
    duplicate: { color: 'violet', icon: IconCopy, word: statusBadgeText.duplicate },
    refused: { color: 'red', icon: IconBan, word: statusBadgeText.refused },
    coalesced: { color: 'violet', icon: IconStack2, word: statusBadgeText.coalesced },
    // triggers
    active: { color: 'green', icon: IconPower, word: commonText.active },
    inactive: { color: 'gray', icon: IconPower, word: commonText.paused },
  }),
)

/** The word for a status, as StatusBadge shows it. */
export const wordOf = (status: string) => looks.get(status)?.word ?? status

type Props = {
  /** A status of a blueprint, run, step, firing or trigger, as named by the server. */
  status: string
  /** Replaces its word. */
  word?: string
  size?: 'sm' | 'md' | 'lg'
}

/** A status as an icon and a word; the colour is redundant. An unknown one is shown by its name. */
export function StatusBadge({ status, word, size = 'md' }: Props) {
  const look = looks.get(status) ?? { color: 'gray', icon: IconCircleDashed, word: status }
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
