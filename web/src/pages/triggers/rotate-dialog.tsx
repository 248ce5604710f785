import { Alert, Button, Group, Modal, NativeSelect, Stack, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { issueFor } from '../../api/errors'
import { CopyField, ErrorNote, Time } from '../../parts'
import { SecretField } from './secret-field'
import { textOf, type Trigger } from './types'
import { useRefresh } from './use-triggers'

const times = [
  { value: '0s', label: 'No longer, from now on' },
  { value: '1h', label: 'An hour' },
  { value: '24h', label: 'A day' },
  { value: '7d', label: 'A week' },
  { value: '30d', label: '30 days' },
]

type Props = { trigger: Trigger; opened: boolean; onClose: () => void }

/** Gives a trigger another secret, while the present one stays good for a time. */
export function RotateDialog({ trigger, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Rotate the secret" size="md">
      <RotateForm trigger={trigger} onClose={onClose} />
    </Modal>
  )
}

function RotateForm({ trigger, onClose }: Omit<Props, 'opened'>) {
  const slack = trigger.trigger_type === 'slack'
  const [secret, setSecret] = useState<string>()
  const [keep, setKeep] = useState('24h')
  const [missing, setMissing] = useState(false)
  const refresh = useRefresh()
  const rotate = useMutation({
    mutationFn: (input: Inputs['blueprintTriggers']['rotateSecret']) =>
      api.blueprintTriggers.rotateSecret.mutate(input),
    onSuccess: refresh,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (slack && !secret) setMissing(true)
    else rotate.mutate({ triggerId: trigger.id, keepPreviousFor: keep, ...(secret ? { secret } : {}) })
  }
  if (rotate.data) {
    return (
      <Stack gap="md">
        <Alert
          color="green"
          icon={<IconCheck size={20} aria-hidden />}
          role="status"
          title="The new secret counts from now on"
        >
          <Text size="sm">
            {rotate.data.previousSecretUntil ? (
              <>
                The one before is good until <Time at={rotate.data.previousSecretUntil} absolute />. Give the new one to
                the sender before that.
              </>
            ) : (
              'The one before is good no longer.'
            )}
          </Text>
        </Alert>
        <CopyField label="Secret" value={rotate.data.secret} secret />
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            Done
          </Button>
        </Group>
      </Stack>
    )
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <SecretField
          label="New secret"
          value={secret ?? ''}
          onChange={setSecret}
          error={missing && !secret ? 'Paste the signing secret that Slack shows.' : issueFor(rotate.error, 'secret')}
          generate={slack ? undefined : textOf(trigger.config, 'preset')}
          description={
            slack
              ? 'Slack makes it: Basic Information of the app, Regenerate.'
              : 'Leave it empty and the server makes one up.'
          }
        />
        <NativeSelect
          label="The present one stays good for"
          description="Time to give the new one to the sender. Only one earlier secret is kept."
          data={times}
          value={keep}
          onChange={(event) => setKeep(event.currentTarget.value)}
          error={issueFor(rotate.error, 'keepPreviousFor')}
        />
        <ErrorNote error={rotate.error} title="The secret stayed as it was" />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={rotate.isPending}>
            Rotate
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
