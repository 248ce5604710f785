import { Alert, Button, Group, Text } from '@mantine/core'
import { IconPlayerPause } from '@tabler/icons-react'
import { Time } from '../../parts'
import type { Trigger } from './types'
import { useSwitch } from './use-triggers'
import { pausedNoteText } from '../../text/triggers'

/** Why the server paused a trigger, and a button to activate it. */
export function PausedNote({ trigger }: { trigger: Trigger }) {
  const turn = useSwitch()
  if (!trigger.paused_reason) return null
  return (
    <Alert
      color="amber"
      icon={<IconPlayerPause size={20} aria-hidden />}
      title={pausedNoteText.pausedByTheServer}
      mb="md"
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {trigger.paused_reason}.
      </Text>
      <Text size="sm" c="dimmed" mt={4}>
        {trigger.retry_at ? (
          <>
            {pausedNoteText.itRetriesAutomaticallyWithThe} <Time at={trigger.retry_at} absolute />.{' '}
          </>
        ) : (
          pausedNoteText.itStaysPausedUntilSomeone
        )}
        {pausedNoteText.deliveriesReceivedMeanwhileAre}
      </Text>
      {trigger.can_manage && (
        <Group mt="xs">
          <Button
            size="compact-md"
            variant="default"
            loading={turn.isPending}
            onClick={() => turn.mutate({ triggerId: trigger.id, isActive: true })}
          >
            {pausedNoteText.activate}
          </Button>
        </Group>
      )}
    </Alert>
  )
}
