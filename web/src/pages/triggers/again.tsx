import { Button, Group, Text } from '@mantine/core'
import { IconPlayerPlay, IconRepeat } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client'
import { parseJson } from '../../api/json'
import { notifyDone, notifyError } from '../../parts'
import type { Question } from '../../parts/confirm'
import type { Explanation, Trigger } from './types'
import { useRefresh } from './use-triggers'
import { againText } from '../../text/triggers'

/** Asks a question in front of the drawer. */
export type Ask = (question: Question) => Promise<boolean>
/** The props of the parts of a drawer. */
export type ToldProps = { story: Explanation; trigger: Trigger; onOpen: (id: string) => void; ask: Ask }

/** Redelivers one firing: by the rules of the trigger, or as a manual run with its body. */
export function Again({ story: { firing, redeliveries, delivery }, trigger, onOpen, ask }: ToldProps) {
  const refresh = useRefresh()
  const again = useMutation({
    mutationFn: () => api.blueprintTriggers.redeliver.mutate({ firingId: firing.id }),
    onSuccess: (answer) => {
      notifyDone(againText.deliveredAgainARunWasStarted)
      if (answer.firingId) onOpen(answer.firingId)
    },
    onError: notifyError,
    onSettled: refresh,
  })
  const ran =
    (firing.executionId !== null && firing.decision === 'started') ||
    redeliveries.some((one) => one.executionId !== null)
  const askToRepeat = async () => {
    const yes =
      !ran ||
      (await ask({
        title: againText.deliverAgain,
        action: againText.deliverAgain2,
        text: againText.thisDeliveryAlreadyStartedARun,
      }))
    if (yes) again.mutate()
  }
  // A delivery that is refused every time can be run manually.
  const body =
    firing.executionId === null && delivery?.body && !delivery.bodyTruncated ? objectOf(delivery.body) : undefined
  const fire = useMutation({
    mutationFn: (inputData: Record<string, unknown>) =>
      api.blueprintTriggers.fire.mutate({ triggerId: trigger.id, inputData }),
    onSuccess: (answer) => {
      notifyDone(againText.runStartedWithThisBody)
      onOpen(answer.firingId)
    },
    onError: notifyError,
    onSettled: refresh,
  })
  const askToFire = async (inputData: Record<string, unknown>) => {
    const yes = await ask({
      title: againText.startARunWithThisBody,
      action: againText.startRun,
      text: againText.thisSkipsTheSignatureCheckAnd,
    })
    if (yes) fire.mutate(inputData)
  }
  const lost = firing.source !== 'redelivery' && delivery !== null && !delivery.kept && delivery.size > 0
  return (
    <div>
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={<IconRepeat size={17} aria-hidden />}
          loading={again.isPending}
          disabled={!trigger.is_active || lost}
          onClick={() => void askToRepeat()}
        >
          {againText.deliverAgain2}
        </Button>
        {body && (
          <Button
            variant="default"
            leftSection={<IconPlayerPlay size={17} aria-hidden />}
            loading={fire.isPending}
            disabled={!trigger.is_active}
            onClick={() => void askToFire(body)}
          >
            {againText.fireWithThisBody}
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed" mt={4}>
        {!trigger.is_active
          ? againText.activateTheTriggerFirst
          : lost
            ? againText.theBodyWasNotStoredSo
            : againText.appliesTheCurrentSettingsOfThe}
      </Text>
    </div>
  )
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
