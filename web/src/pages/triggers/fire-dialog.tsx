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

type Props = { trigger: Trigger; opened: boolean; onClose: () => void }

/** Fires a trigger manually. */
export function FireDialog({ trigger, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Fire the trigger" size="lg">
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
            ? `Starts ${trigger.blueprint_title}. Nodes read the input as {{inputData}}.`
            : `Starts ${trigger.blueprint_title} with this input, as if it had been received. ${kinds[trigger.trigger_type].gives}`}
        </Text>
        <JsonInput
          label="Input data"
          description={manual ? 'Optional. A JSON object.' : undefined}
          placeholder={manual ? '{"order": 1042}' : undefined}
          value={text}
          onChange={setText}
          optional
          error={wrong ?? issueFor(fire.error, 'inputData')}
          maxRows={16}
          data-autofocus
        />
        <Switch
          label="Record traffic"
          description={
            always
              ? 'All runs of this trigger are recorded.'
              : 'Stores the traffic between the run and other services, without credentials.'
          }
          checked={always || record}
          disabled={always}
          onChange={(event) => setRecord(event.currentTarget.checked)}
        />
        <ErrorNote error={fire.error} title="Could not start a run" />
        {fire.data && (
          <Alert color="green" icon={<IconCheck size={20} aria-hidden />} role="status" title="Run started">
            <Anchor component={Link} href={`/runs/${fire.data.executionId}`} size="sm">
              View run
            </Anchor>
          </Alert>
        )}
        <Group justify={onClose ? 'flex-end' : 'flex-start'} gap="xs">
          {onClose && (
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
          )}
          <Button type="submit" loading={fire.isPending} disabled={wrong !== undefined || !trigger.is_active}>
            {fire.data ? 'Fire again' : 'Fire'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
