import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { describeError, issueFor } from '../../api/errors'
import type { Organization } from '../../api/session'
import { CopyField, ErrorNote, notifyDone } from '../../parts'
import { givable, type Role, roleTitle } from './roles'
import { addMemberText } from '../../text/settings'
import { commonText } from '../../text/common'

/** Adds a user of this server by their email. */
export function AddMember({ of }: { of: Organization }) {
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const add = useMutation({
    mutationFn: (input: Inputs['organization']['addMember']) => api.organization.addMember.mutate(input),
    onSuccess: (member) => {
      setEmail('')
      notifyDone(addMemberText.isNow(member.name || member.email, role))
      return client.invalidateQueries({ queryKey: ['members', of.id] })
    },
  })
  const unknown = add.error !== null && describeError(add.error).code === 'NOT_FOUND'
  const issue = issueFor(add.error, 'email')
  const asked = add.variables?.email ?? ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate({ organizationId: of.id, email: email.trim(), role })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {unknown && (
          <Stack gap="xs" role="alert">
            <Text size="sm">
              {addMemberText.noUserOfThisServerHas} <b>{asked}</b>
              {addMemberText.theOperatorCanAddThisUser}
            </Text>
            <CopyField
              label={addMemberText.commandToAddTheUser}
              hideLabel
              value={`blueprintd user add --email ${shell(asked)}`}
            />
          </Stack>
        )}
        {add.error && !unknown && !issue && <ErrorNote error={add.error} />}
        <Group align="flex-end" gap="sm">
          <TextInput
            label={commonText.email}
            type="email"
            required
            withAsterisk={false}
            maxLength={320}
            autoComplete="off"
            style={{ flex: '1 1 220px' }}
            value={email}
            error={issue}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <NativeSelect
            label={commonText.role}
            data={givable(of.role).map((value) => ({ value, label: roleTitle(value) }))}
            value={role}
            onChange={(event) => setRole(event.currentTarget.value as Role)}
            style={{ flex: '0 1 140px' }}
          />
          <Button type="submit" loading={add.isPending} disabled={email.trim() === ''}>
            {commonText.add}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

// Quotes a text for a shell.
function shell(text: string): string {
  return /^[\w.+@%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
