import { Button, CloseButton, Group, Paper, Progress, Text } from '@mantine/core'
import { Link } from 'wouter'
import { StatusBadge } from '../../parts'
import type { LiveRun } from '../runs/use-run'
import { runStripText } from '../../text/editor'
import { commonText } from '../../text/common'

/** The progress of the run that was started here, with a link to its page. */
export function RunStrip({ live, executionId, onClose }: { live: LiveRun; executionId: string; onClose: () => void }) {
  const { run } = live
  const failed = run?.steps.find((step) => step.status === 'failed')
  return (
    <Paper withBorder shadow="md" p="xs" role="status" aria-label={runStripText.lastRun}>
      <Group gap="sm" wrap="nowrap">
        <StatusBadge status={run?.status ?? 'running'} />
        {run?.status === 'running' && (
          <Progress value={run.progress} w={80} size="sm" aria-label={runStripText.progress} />
        )}
        <Text size="sm" truncate style={{ minWidth: 0 }}>
          {run?.awaitingInput
            ? runStripText.waitingForInput
            : failed
              ? `${failed.title || failed.nodeId}: ${failed.error?.message ?? runStripText.failed}`
              : run
                ? runStripText.ofSteps(run.completedSteps, run.totalSteps)
                : runStripText.starting}
        </Text>
        {/* One element, so that it keeps the focus when the run begins to wait. */}
        <Button
          component={Link}
          href={`/runs/${executionId}`}
          variant={run?.awaitingInput ? 'filled' : 'subtle'}
          size="compact-sm"
          style={{ flex: 'none' }}
        >
          {run?.awaitingInput ? commonText.review : runStripText.viewRun}
        </Button>
        <CloseButton size="sm" aria-label={runStripText.closeRunStatus} onClick={onClose} />
      </Group>
    </Paper>
  )
}
