import { Anchor, Button, CloseButton, Group, Paper, Progress, Text } from '@mantine/core'
import { Link } from 'wouter'
import { StatusBadge } from '../../parts'
import type { LiveRun } from '../runs/use-run'

/** How the run that was started here goes on, with a way to its page. */
export function RunStrip({ live, executionId, onClose }: { live: LiveRun; executionId: string; onClose: () => void }) {
  const { run } = live
  const failed = run?.steps.find((step) => step.status === 'failed')
  return (
    <Paper withBorder shadow="md" p="xs" role="status" aria-label="Last run">
      <Group gap="sm" wrap="nowrap">
        <StatusBadge status={run?.status ?? 'running'} />
        {run?.status === 'running' && <Progress value={run.progress} w={80} size="sm" aria-label="Progress" />}
        <Text size="sm" truncate style={{ minWidth: 0 }}>
          {run?.awaitingInput
            ? 'It waits for an answer.'
            : failed
              ? `${failed.title || failed.nodeId}: ${failed.error?.message ?? 'failed'}`
              : run
                ? `${run.completedSteps} of ${run.totalSteps} steps`
                : 'Starting'}
        </Text>
        {run?.awaitingInput ? (
          <Button component={Link} href={`/runs/${executionId}`} size="compact-sm" style={{ flex: 'none' }}>
            Answer
          </Button>
        ) : (
          <Anchor component={Link} href={`/runs/${executionId}`} size="sm" style={{ flex: 'none' }}>
            See the run
          </Anchor>
        )}
        <CloseButton size="sm" aria-label="Put the run away" onClick={onClose} />
      </Group>
    </Paper>
  )
}
