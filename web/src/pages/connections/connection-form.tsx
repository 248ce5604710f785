import { Alert, Button, Group, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { IconInfoCircle } from '@tabler/icons-react'
import { type FormEvent, useEffect, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { issueFor } from '../../api/errors'
import { confirm, ErrorNote, notifyDone } from '../../parts'
import { guardLeaving } from '../../shell/leaving'
import { Section } from '../settings/section'
import { changeOf, secretsOf } from './config-change'
import { allAtFields, ConfigFields } from './config-fields'
import type { Connection, ConnectionType } from './types'
import { connectionFormText } from '../../text/connections'
import { commonText } from '../../text/common'

type Props = { of: Connection; type: ConnectionType; readOnly: boolean }

/**
 * Edits a connection. If it was changed elsewhere in the meantime, the form keeps the typed values and shows a note; it
 * sends only the changed fields.
 */
export function ConnectionForm({ of, type, readOnly }: Props) {
  const [base, setBase] = useState(of)
  const [dirty, setDirty] = useState(false)
  const newer = of.updatedAt !== base.updatedAt
  if (newer && !dirty) setBase(of)
  return (
    <Fields
      key={base.updatedAt}
      of={base}
      type={type}
      readOnly={readOnly}
      onDirty={setDirty}
      onSaved={setBase}
      newer={newer && dirty}
      onNewer={() => setBase(of)}
    />
  )
}

type FieldsProps = Props & {
  onDirty: (dirty: boolean) => void
  onSaved: (saved: Connection) => void
  newer: boolean
  onNewer: () => void
}

function Fields({ of, type, readOnly, onDirty, onSaved, newer, onNewer }: FieldsProps) {
  const client = useQueryClient()
  const [name, setName] = useState(of.name)
  const [config, setConfig] = useState(of.config)
  const save = useMutation({
    mutationFn: (input: Inputs['connection']['update']) => api.connection.update.mutate(input),
    onSuccess: (saved) => {
      onDirty(false)
      onSaved(saved)
      client.setQueryData(['connection', 'get', of.id], saved)
      void client.invalidateQueries({ queryKey: ['connection'] })
      notifyDone(connectionFormText.saved(saved.name))
    },
  })
  const change = changeOf(of.config, config, secretsOf(type.configSchema))
  const dirty = change !== undefined || name.trim() !== of.name
  useEffect(() => {
    onDirty(dirty)
    if (!dirty) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    const free = guardLeaving(() =>
      confirm({
        title: connectionFormText.leaveWithoutSaving,
        text: connectionFormText.yourChangesWillBeLost,
        action: connectionFormText.leave,
        danger: true,
      }),
    )
    return () => {
      removeEventListener('beforeunload', warn)
      free()
    }
  }, [dirty, onDirty])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (dirty)
      save.mutate({
        id: of.id,
        ...(name.trim() !== of.name ? { name: name.trim() } : {}),
        ...(change ? { config: change } : {}),
      })
  }
  const undo = () => {
    setName(of.name)
    setConfig(of.config)
    save.reset()
  }
  const { error } = save
  return (
    <Section title={commonText.settings} boxed>
      <form onSubmit={submit} noValidate>
        <Stack>
          {readOnly && (
            <Alert color="blue" icon={<IconInfoCircle size={20} aria-hidden />}>
              {connectionFormText.youCanUseThisConnectionIts}
            </Alert>
          )}
          {newer && (
            <Alert
              color="amber"
              icon={<IconInfoCircle size={20} aria-hidden />}
              role="status"
              title={connectionFormText.theConnectionHasChanged}
            >
              {connectionFormText.savingSendsOnlyYourChanges}{' '}
              <Button size="compact-sm" variant="default" ml={4} onClick={onNewer}>
                {connectionFormText.loadTheNewerVersion}
              </Button>
            </Alert>
          )}
          {error && !allAtFields(error) && (
            <ErrorNote error={error} title={connectionFormText.couldNotSaveTheConnection} />
          )}
          <TextInput
            label={commonText.name}
            required
            withAsterisk={false}
            maxLength={200}
            autoComplete="off"
            readOnly={readOnly}
            value={name}
            error={issueFor(error, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <ConfigFields
            type={of.type}
            schema={type.configSchema}
            config={config}
            onChange={setConfig}
            error={error}
            readOnly={readOnly}
            organizationId={of.organizationId ?? undefined}
          />
          {!readOnly && (
            <Group gap="xs">
              <Button type="submit" loading={save.isPending} disabled={!dirty || name.trim() === ''}>
                {connectionFormText.saveChanges}
              </Button>
              {dirty && (
                <Button variant="default" onClick={undo}>
                  {commonText.undo}
                </Button>
              )}
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  )
}
