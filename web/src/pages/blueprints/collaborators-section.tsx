import { ActionIcon, Button, NativeSelect, Text, TextInput } from '@mantine/core'
import { IconTrash, IconUserPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { describeError, issueFor } from '../../api/errors'
import { queryClient } from '../../api/query-client'
import { useSignedIn } from '../../api/session'
import { confirm, ErrorNote, notifyDone, notifyError } from '../../parts'
import { Section } from './section'
import classes from './section.module.css'
import type { Blueprint } from '../../api/use-blueprint'
import { collaboratorsSectionText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Role = Inputs['collaborator']['add']['role']

const roles = [
  { value: 'editor', label: commonText.editor },
  { value: 'admin', label: commonText.admin },
]

/** The collaborators of a blueprint, besides its creator and the admins of its organization. */
export function CollaboratorsSection({ blueprint, allowed }: { blueprint: Blueprint; allowed: boolean }) {
  const { user } = useSignedIn()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('editor')
  const key = ['blueprint', blueprint.id, 'collaborators']
  const list = useQuery({ queryKey: key, queryFn: () => api.collaborator.list.query({ blueprintId: blueprint.id }) })
  const renew = () => queryClient.invalidateQueries({ queryKey: key })
  const add = useMutation({
    mutationFn: (input: Inputs['collaborator']['add']) => api.collaborator.add.mutate(input),
    onSuccess: async (added) => {
      setEmail('')
      notifyDone(
        collaboratorsSectionText.isNow(
          added.name || added.email,
          added.role === 'admin' ? collaboratorsSectionText.anAdmin : collaboratorsSectionText.anEditor,
        ),
      )
      await renew()
    },
  })
  const change = useMutation({
    mutationFn: (input: Inputs['collaborator']['add']) => api.collaborator.add.mutate(input),
    onSettled: renew,
    onError: notifyError,
  })
  const remove = useMutation({
    mutationFn: (userId: string) => api.collaborator.remove.mutate({ blueprintId: blueprint.id, userId }),
    onSettled: renew,
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate({ blueprintId: blueprint.id, email: email.trim(), role })
  }
  const askRemove = async (userId: string, name: string) => {
    const agreed = await confirm({
      title: collaboratorsSectionText.remove(name),
      text: collaboratorsSectionText.theyCanNoLongerEditThis,
      action: commonText.remove,
      danger: true,
    })
    if (agreed) remove.mutate(userId)
  }
  const fault = add.error ? (issueFor(add.error, 'email') ?? describeError(add.error).message) : undefined
  return (
    <Section
      title={collaboratorsSectionText.collaborators}
      text={collaboratorsSectionText.editorsCanChangeTheBlueprint}
    >
      <ErrorNote
        error={list.error}
        title={collaboratorsSectionText.couldNotLoadTheCollaborators}
        onRetry={() => void list.refetch()}
      />
      <ul className={classes.people}>
        {list.data?.map((one) => (
          <li key={one.userId} className={classes.person}>
            <div>
              <Text size="sm" fw={550}>
                {one.name || one.email}
                {one.userId === user.id && collaboratorsSectionText.you}
              </Text>
              {one.name && (
                <Text size="xs" c="dimmed">
                  {one.email}
                </Text>
              )}
            </div>
            {allowed ? (
              <>
                <NativeSelect
                  size="xs"
                  aria-label={collaboratorsSectionText.roleOf(one.name || one.email)}
                  data={roles}
                  value={change.isPending && change.variables.email === one.email ? change.variables.role : one.role}
                  onChange={(event) =>
                    change.mutate({
                      blueprintId: blueprint.id,
                      email: one.email,
                      role: event.currentTarget.value as Role,
                    })
                  }
                />
                <ActionIcon
                  aria-label={collaboratorsSectionText.remove2(one.name || one.email)}
                  onClick={() => void askRemove(one.userId, one.name || one.email)}
                >
                  <IconTrash size={17} aria-hidden />
                </ActionIcon>
              </>
            ) : (
              <Text size="sm" c="dimmed">
                {roles.find(({ value }) => value === one.role)?.label ?? one.role}
              </Text>
            )}
          </li>
        ))}
        {list.data?.length === 0 && (
          <li>
            <Text size="sm" c="dimmed">
              {collaboratorsSectionText.noCollaboratorsYet}
            </Text>
          </li>
        )}
      </ul>
      {allowed && (
        <form onSubmit={submit} noValidate>
          <div className={classes.add}>
            <TextInput
              label={collaboratorsSectionText.emailOfAnAccountOnThis}
              type="email"
              autoComplete="off"
              value={email}
              maxLength={320}
              onChange={(event) => {
                setEmail(event.currentTarget.value)
                add.reset()
              }}
            />
            <NativeSelect
              label={commonText.role}
              data={roles}
              value={role}
              onChange={(event) => setRole(event.currentTarget.value as Role)}
            />
            <Button
              type="submit"
              loading={add.isPending}
              disabled={email.trim() === ''}
              leftSection={<IconUserPlus size={17} aria-hidden />}
            >
              {commonText.add}
            </Button>
          </div>
          {fault && (
            <Text size="sm" c="var(--mantine-color-error)" mt={6} role="alert">
              {fault}
            </Text>
          )}
        </form>
      )}
    </Section>
  )
}
