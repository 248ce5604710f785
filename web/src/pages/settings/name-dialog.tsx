import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { issueFor } from '../../api/errors'
import { ErrorNote } from '../../parts'
import { commonText } from '../../text/common'

type Props = {
  opened: boolean
  onClose: () => void
  title: string
  action: string
  /** The initial name. */
  name?: string
  description?: string
  pending: boolean
  error: unknown
  onName: (name: string) => void
}

/** A dialog that asks for a name. */
export function NameDialog(props: Props) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title} size="md">
      <Inside {...props} />
    </Modal>
  )
}

function Inside({ onClose, action, name: before = '', description, pending, error, onName }: Props) {
  const [name, setName] = useState(before)
  const issue = issueFor(error, 'name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onName(name.trim())
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {Boolean(error) && !issue && <ErrorNote error={error} />}
        <TextInput
          label={commonText.name}
          description={description}
          required
          withAsterisk={false}
          maxLength={200}
          data-autofocus
          autoComplete="off"
          value={name}
          error={issue}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={pending} disabled={name.trim() === '' || name.trim() === before}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
