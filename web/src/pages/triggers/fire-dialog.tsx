import { Alert, Anchor, Button, Group, Modal, Stack, Switch, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client'
import { issueFor } from '../../api/errors'
import { parseJson, show } from '../../api/json'
import { ErrorNote, JsonInput } from '../../parts'
import { kinds } from './kinds'
import { checkObject } from './sample-input'
import type { Trigger } from './types'
import { useRefresh } from './use-triggers'
import { fireDialogText } from '../../text/triggers'
import { commonText } from '../../text/common'

type Props = { trigger: Trigger; opened: boolean; onClose: () => void }

/** Fires a trigger manually. */
export function FireDialog({ trigger, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={fireDialogText.fireTrigger} size="lg">
      <FireForm trigger={trigger} onClose={onClose} />
    </Modal>
  )
}

/** The same as a form in a page. */
export function FireForm({ trigger, onClose }: { trigger: Trigger; onClose?: () => void }) {
  const manual = trigger.trigger_type === 'manual'
  const [text, setText] = useState(() => (manual ? '' : show(kinds[trigger.trigger_type].sample(trigger.config))))
  const always = trigger.config.record === true
  const [record, setRecord] = useState(false)
  const refresh = useRefresh()
  const fire = useMutation({
    mutationFn: (inputData: Record<string, unknown> | undefined) =>
      api.blueprintTriggers.fire.mutate({
        triggerId: trigger.id,
        ...(inputData ? { inputData } : {}),
        ...(record ? { record } : {}),
      }),
    onSettled: refresh,
  })
  const wrong = checkObject(text)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (wrong === undefined) fire.mutate(text.trim() === '' ? undefined : (parseJson(text) as Record<string, unknown>))
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {manual
            ? fireDialogText.startsNodesReadTheInputAs(trigger.blueprint_title)
            : fireDialogText.startsAsIfThisInputHad(trigger.blueprint_title, kinds[trigger.trigger_type].input)}
        </Text>
        <JsonInput
          label={fireDialogText.inputData}
          description={manual ? fireDialogText.optionalAJsonObject : undefined}
          placeholder={manual ? fireDialogText.order1042 : undefined}
          value={text}
          onChange={setText}
          optional
          error={wrong ?? issueFor(fire.error, 'inputData')}
          maxRows={16}
          data-autofocus
        />
        <Switch
          label={fireDialogText.recordTraffic}
          aria-label={fireDialogText.recordTraffic}
          description={always ? fireDialogText.allRunsOfThisTriggerAre : fireDialogText.storesTheTrafficBetweenTheRun}
          checked={always || record}
          disabled={always}
          onChange={(event) => setRecord(event.currentTarget.checked)}
        />
        <ErrorNote error={fire.error} title={fireDialogText.couldNotStartARun} />
        {fire.data && (
          <Alert
            color="green"
            icon={<IconCheck size={20} aria-hidden />}
            role="status"
            title={fireDialogText.runStarted}
          >
            <Anchor component={Link} href={`/runs/${fire.data.executionId}`} size="sm">
              {fireDialogText.viewRun}
            </Anchor>
          </Alert>
        )}
        <Group justify={onClose ? 'flex-end' : 'flex-start'} gap="xs">
          {onClose && (
            <Button variant="default" onClick={onClose}>
              {commonText.close}
            </Button>
          )}
          <Button type="submit" loading={fire.isPending} disabled={wrong !== undefined || !trigger.is_active}>
            {fire.data ? fireDialogText.fireAgain : fireDialogText.fire}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
