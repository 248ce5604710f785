import { Modal, Skeleton } from '@mantine/core'
import { later } from '../../parts/later'
import type { Run } from './types'
import { retryDialogText } from '../../text/runs'

const Retry = later(
  async () => ({ default: (await import('./run-more')).Retry }),
  () => <Skeleton h={330} />,
).Component

/** The dialog that runs a run again, from a step if one is given. */
export function RetryDialog({
  run,
  step,
  opened,
  onClose,
}: {
  run: Run
  step?: string
  opened: boolean
  onClose: () => void
}) {
  return (
    <Modal opened={opened} onClose={onClose} title={retryDialogText.retryThisRun} size="lg" returnFocus>
      <Retry run={run} step={step} onClose={onClose} />
    </Modal>
  )
}
