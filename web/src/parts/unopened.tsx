import { Button } from '@mantine/core'
import { IconSearchOff } from '@tabler/icons-react'
import { Link } from 'wouter'
import { describeError } from '../api/errors'
import { EmptyState } from './empty-state'
import { ErrorNote } from './error-note'
import { unopenedText } from '../text/parts'

type Props = {
  /** Why it could not be opened. */
  error: unknown
  /** What failed, for an error that a retry may solve: `Could not open the trigger`. */
  title?: string
  /** What is missing: `Trigger not found`. */
  missing: string
  /** The list of its kind. */
  list: { href: string; title: string }
  onRetry: () => void
}

/** In place of a page whose subject could not be opened: the way to the list if there is no such thing, else the error. */
export function Unopened({ error, title, missing, list, onRetry }: Props) {
  if (!['NOT_FOUND', 'FORBIDDEN', 'BAD_REQUEST'].includes(describeError(error).code))
    return <ErrorNote error={error} title={title} onRetry={onRetry} />
  return (
    <EmptyState
      icon={<IconSearchOff />}
      title={missing}
      text={unopenedText.theAddressMayBeMistyped}
      action={
        <Button component={Link} href={list.href}>
          {list.title}
        </Button>
      }
    />
  )
}
