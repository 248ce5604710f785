import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { issueFor } from '../../api/errors'
import { useServerInfo } from '../../api/server-info'
import { CopyField, ErrorNote } from '../../parts'

/** The dialog that makes a key and shows it, this once. */
export function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const client = useQueryClient()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: (input: Inputs['apiKey']['create']) => api.apiKey.create.mutate(input),
    onSuccess: () => client.invalidateQueries({ queryKey: ['apiKeys'] }),
  })
  const made = create.data
  const close = () => {
    onClose()
  }
  const forget = () => {
    setName('')
    create.reset() // the key is nowhere in the page any more
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({ name: name.trim() })
  }
  const issue = issueFor(create.error, 'name')
  return (
    // Once the key is shown, a slip of the finger must not close it.
    <Modal opened={opened} onClose={close} onExitTransitionEnd={forget} title={made ? 'Copy your key now' : 'New API key'} size="lg" closeOnClickOutside={!made} closeOnEscape={!made}>
      {made ? <Shown secret={made.key} onDone={close} /> : (
        <form onSubmit={submit}>
          <Stack>
            {create.error && !issue && <ErrorNote error={create.error} />}
            <TextInput label="Name" description="What will use it, so that you know later which one to revoke." placeholder="laptop" required withAsterisk={false} maxLength={200} data-autofocus autoComplete="off" value={name} error={issue} onChange={(event) => setName(event.currentTarget.value)} />
            <Text size="sm" c="dimmed">A key may do all that you may: read and change your blueprints, run them, and use your connections.</Text>
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={close}>Cancel</Button>
              <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>Create key</Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

function Shown({ secret, onDone }: { secret: string; onDone: () => void }) {
  const info = useServerInfo()
  const host = info.data?.apiHost ?? location.origin
  const curl = (key: string) => `curl -H 'Authorization: Bearer ${key}' ${host}/api/trpc/blueprint.list`
  return (
    <Stack>
      <Alert color="amber" icon={<IconAlertTriangle size={20} aria-hidden />} title="It is shown this once">
        The server keeps only a hash of it and its last four characters. Keep it where you keep passwords; if it is lost, revoke it and make another.
      </Alert>
      <CopyField label="API key" value={secret} secret />
      <CopyField label="Try it" value={curl(secret)} secret mask={curl('•••')} />
      <Group justify="flex-end"><Button onClick={onDone} data-autofocus>I have kept it</Button></Group>
    </Stack>
  )
}
