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
import { rotateDialogText } from '../../text/triggers'
import { commonText } from '../../text/common'

const times = [
  { value: '0s', label: rotateDialogText.expiresImmediately },
  { value: '1h', label: rotateDialogText.n1Hour },
  { value: '24h', label: rotateDialogText.n1Day },
  { value: '7d', label: rotateDialogText.n1Week },
  { value: '30d', label: rotateDialogText.n30Days },
]

type Props = { trigger: Trigger; opened: boolean; onClose: () => void }

/** Rotates the secret of a trigger; the current one stays valid for a time. */
export function RotateDialog({ trigger, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={rotateDialogText.rotateSecret} size="md">
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
          title={rotateDialogText.newSecretActive}
        >
          <Text size="sm">
            {rotate.data.previousSecretUntil ? (
              <>
                {rotateDialogText.thePreviousSecretIsValidUntil} <Time at={rotate.data.previousSecretUntil} absolute />
                {rotateDialogText.giveTheSenderTheNewOne}
              </>
            ) : (
              rotateDialogText.thePreviousSecretIsNoLonger
            )}
          </Text>
        </Alert>
        <CopyField label={rotateDialogText.secret} value={rotate.data.secret} secret />
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            {commonText.done}
          </Button>
        </Group>
      </Stack>
    )
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <SecretField
          label={rotateDialogText.newSecret}
          value={secret ?? ''}
          onChange={setSecret}
          error={
            missing && !secret ? rotateDialogText.pasteTheSigningSecretFromSlack : issueFor(rotate.error, 'secret')
          }
          generate={slack ? undefined : textOf(trigger.config, 'preset')}
          description={
            slack ? rotateDialogText.inSlackBasicInformationOfThe : rotateDialogText.leaveEmptyToGenerateASecret
          }
        />
        <NativeSelect
          label={rotateDialogText.validityOfTheCurrentSecret}
          description={rotateDialogText.timeToUpdateTheSenderOnly}
          data={times}
          value={keep}
          onChange={(event) => setKeep(event.currentTarget.value)}
          error={issueFor(rotate.error, 'keepPreviousFor')}
        />
        <ErrorNote error={rotate.error} title={rotateDialogText.couldNotRotateTheSecret} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={rotate.isPending}>
            {rotateDialogText.rotate}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
