import { Alert, Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { now } from '../../api/clock'
import { issueFor } from '../../api/errors'
import { useServerInfo } from '../../api/server-info'
import { CopyField, ErrorNote } from '../../parts'
import { accesses, expiries, keyInput } from './key-scopes'
import { newKeyText } from '../../text/settings'
import { commonText } from '../../text/common'

/** The dialog that creates a key and shows it once. */
export function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [access, setAccess] = useState('all')
  const [expiry, setExpiry] = useState('')
  const [at, setAt] = useState('')
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
    setAccess('all')
    setExpiry('')
    setAt('')
    create.reset() // removes the key from the page
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const input = keyInput(name, access, expiry, at, now())
    if (input) create.mutate(input)
  }
  const issue = issueFor(create.error, 'name')
  const late =
    issueFor(create.error, 'expiresAt') ??
    (at !== '' && !keyInput(name, access, expiry, at, now()) ? newKeyText.chooseATimeInTheFuture : undefined)
  return (
    // The key is shown only once: only its button closes the dialog.
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={forget}
      title={made ? newKeyText.copyYourKeyNow : newKeyText.newApiKey}
      size="lg"
      closeOnClickOutside={!made}
      closeOnEscape={!made}
    >
      {made ? (
        <Shown secret={made.key} onDone={close} />
      ) : (
        <form onSubmit={submit}>
          <Stack>
            {create.error && !issue && !late && <ErrorNote error={create.error} />}
            <TextInput
              label={commonText.name}
              description={newKeyText.theProgramOrPersonThatUses}
              placeholder={newKeyText.laptop}
              required
              withAsterisk={false}
              maxLength={200}
              data-autofocus
              autoComplete="off"
              value={name}
              error={issue}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <NativeSelect
              label={newKeyText.access}
              description={accesses.find(({ value }) => value === access)?.text}
              data={accesses.map(({ value, label }) => ({ value, label }))}
              value={access}
              onChange={(event) => setAccess(event.currentTarget.value)}
            />
            <Group align="flex-start" gap="sm">
              <NativeSelect
                label={newKeyText.expires}
                data={expiries}
                value={expiry}
                onChange={(event) => setExpiry(event.currentTarget.value)}
                style={{ flex: '1 1 160px' }}
              />
              {expiry === 'at' && (
                <TextInput
                  label={newKeyText.time}
                  type="datetime-local"
                  required
                  withAsterisk={false}
                  value={at}
                  error={late}
                  onChange={(event) => setAt(event.currentTarget.value)}
                  style={{ flex: '1 1 220px' }}
                />
              )}
            </Group>
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={close}>
                {commonText.cancel}
              </Button>
              <Button
                type="submit"
                loading={create.isPending}
                disabled={name.trim() === '' || (expiry === 'at' && (at === '' || late !== undefined))}
              >
                {newKeyText.createKey}
              </Button>
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
      <Alert color="amber" icon={<IconAlertTriangle size={20} aria-hidden />} title={newKeyText.thisKeyIsShownOnlyOnce}>
        {newKeyText.theServerStoresAHashAnd}
      </Alert>
      <CopyField label={newKeyText.apiKey} value={secret} secret />
      <CopyField label={newKeyText.example} value={curl(secret)} secret mask={curl('•••')} />
      <Group justify="flex-end">
        <Button onClick={onDone} data-autofocus>
          {commonText.done}
        </Button>
      </Group>
    </Stack>
  )
}
