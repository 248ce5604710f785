import { Button, Group, NativeSelect, Skeleton, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { api, type Inputs } from '../../api/client'
import { issueFor } from '../../api/errors'
import { useSignedIn } from '../../api/session'
import { DocLink, EmptyState, ErrorNote, notifyDone, PageHeader } from '../../parts'
import { useOrganizationFilter } from '../../shell/organization'
import { Callback } from './callback'
import { beginning, given, needless } from './config-change'
import { allAtFields, ConfigFields } from './config-fields'
import { TypeChooser } from './type-chooser'
import { type ConnectionType, useTypes } from './types'
import { newConnectionText } from '../../text/connections'
import { commonText } from '../../text/common'

const crumbs = [{ title: commonText.connections, href: '/connections' }]

/** Creates a connection: first its type, then the rest. */
export function NewConnection() {
  const [params] = useSearchParams()
  const wanted = params.get('type')
  const types = useTypes()
  const before = useRef(wanted)
  // The path does not change, so the focus would stay on the chosen link.
  useEffect(() => {
    if (before.current === wanted) return
    before.current = wanted
    document.querySelector<HTMLElement>('#main h1')?.focus()
    scrollTo(0, 0)
  }, [wanted])
  if (!wanted) {
    return (
      <>
        <PageHeader
          title={newConnectionText.newConnection}
          text={newConnectionText.chooseAServiceType}
          breadcrumbs={crumbs}
        />
        <TypeChooser />
      </>
    )
  }
  const type = types.data?.find((one) => one.type === wanted)
  return (
    <>
      <PageHeader
        key={wanted}
        title={type ? newConnectionText.newConnection2(type.title) : newConnectionText.newConnection}
        text={
          type && (
            <>
              {type.description} <DocLink to="connections-and-sign-in" />
            </>
          )
        }
        breadcrumbs={[...crumbs, { title: newConnectionText.new, href: '/connections/new' }]}
      />
      {types.isPending && <Skeleton h={320} maw={640} radius="md" />}
      {types.error && !types.data && <ErrorNote error={types.error} onRetry={() => void types.refetch()} />}
      {types.data && !type && (
        <EmptyState
          title={newConnectionText.unknownConnectionType}
          action={
            <Button component={Link} href="/connections/new">
              {newConnectionText.chooseAType}
            </Button>
          }
        />
      )}
      {type && <Form key={type.type} type={type} />}
    </>
  )
}

function Form({ type }: { type: ConnectionType }) {
  const { organizations } = useSignedIn()
  const { id: filter } = useOrganizationFilter()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const shared = organizations.filter((one) => !one.personal)
  const [name, setName] = useState('')
  const [owner, setOwner] = useState(shared.some((one) => one.id === filter) ? filter! : '')
  const [config, setConfig] = useState(() => beginning(type.configSchema))
  const create = useMutation({
    mutationFn: (input: Inputs['connection']['create']) => api.connection.create.mutate(input),
    onSuccess: (made) => {
      client.setQueryData(['connection', 'get', made.id], made)
      void client.invalidateQueries({ queryKey: ['connection'] })
      notifyDone(newConnectionText.saved(made.name))
      navigate(`/connections/${made.id}?made=yes`, { replace: true })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const sent = given(
      Object.fromEntries(Object.entries(config).filter(([key]) => !needless(type.type, config).includes(key))),
    )
    create.mutate({ name: name.trim(), type: type.type, config: sent, ...(owner ? { organizationId: owner } : {}) })
  }
  const { error } = create
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={640}>
        {error && !allAtFields(error) && (
          <ErrorNote error={error} title={newConnectionText.couldNotSaveTheConnection} />
        )}
        <TextInput
          label={commonText.name}
          description={newConnectionText.nodesReferToTheConnectionBy}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          required
          withAsterisk={false}
          maxLength={200}
          autoComplete="off"
          value={name}
          error={issueFor(error, 'name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          label={newConnectionText.availableTo}
          data={[
            { value: '', label: newConnectionText.onlyYou },
            ...shared.map((one) => ({ value: one.id, label: newConnectionText.everyoneIn(one.name) })),
          ]}
          description={
            shared.length === 0
              ? newConnectionText.connectionsOfAnOrganizationAre
              : newConnectionText.youCannotChangeThisLater
          }
          value={owner}
          onChange={(event) => setOwner(event.currentTarget.value)}
        />
        {type.type === 'oauth2' && config.flow !== 'client_credentials' && <Callback />}
        <ConfigFields
          type={type.type}
          schema={type.configSchema}
          config={config}
          onChange={setConfig}
          error={error}
          organizationId={owner || undefined}
        />
        <Group gap="xs">
          <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
            {newConnectionText.saveConnection}
          </Button>
          <Button variant="default" component={Link} href="/connections/new">
            {newConnectionText.changeType}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
