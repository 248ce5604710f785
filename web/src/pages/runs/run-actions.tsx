import { Button, Modal, Skeleton } from '@mantine/core'
import { IconPlayerStop, IconRefresh } from '@tabler/icons-react'
import { useState } from 'react'
import { useUrlStates } from '../../parts'
import { later } from '../../parts/later'
import { RetryDialog } from './retry-dialog'
import { RunMenu } from './run-menu'
import { isOver, type Run } from './types'
import type { RunFacts } from './use-run-facts'
import { runActionsText } from '../../text/runs'
import { commonText } from '../../text/common'

const Cancel = later(
  async () => ({ default: (await import('./run-more')).Cancel }),
  () => <Skeleton h={210} />,
).Component
type Props = { run: Run; facts: RunFacts; onRecord: (run: Run) => void }

/** The actions for a run: cancel it while it runs, retry it after it ended. */
export function RunActions({ run, facts, onRecord }: Props) {
  const [asked, setAsked] = useState<'cancel' | 'retry' | null>(null)
  const [{ step: selected }] = useUrlStates({ step: '' })
  const close = () => setAsked(null)
  return (
    <>
      <RunMenu run={run} facts={facts} />
      {isOver(run.status) ? (
        <Button
          variant={run.status === 'failed' ? 'filled' : 'default'}
          leftSection={<IconRefresh size={17} aria-hidden />}
          onClick={() => setAsked('retry')}
        >
          {commonText.retry}
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<IconPlayerStop size={17} aria-hidden />}
          onClick={() => setAsked('cancel')}
        >
          {runActionsText.cancelRun}
        </Button>
      )}
      <Modal opened={asked === 'cancel'} onClose={close} title={runActionsText.cancelThisRun} returnFocus>
        <Cancel run={run} onRecord={onRecord} onClose={close} />
      </Modal>
      <RetryDialog run={run} step={selected || undefined} opened={asked === 'retry'} onClose={close} />
    </>
  )
}
