import { Badge, Button, Code, Group, Switch } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { api, type Inputs, type Outputs } from '../../api/client'
import {
  type Column,
  confirm,
  DataTable,
  EmptyState,
  ErrorNote,
  notifyDone,
  notifyError,
  StatusBadge,
  Time,
  useUrlState,
} from '../../parts'
import { now } from '../../api/clock'
import { showScopes } from './key-scopes'
import { NewKey } from './new-key'
import { SettingsFrame } from './settings-frame'

type Row = Outputs['apiKey']['list'][number]

/** The user's API keys. */
export default function KeysPage() {
  const client = useQueryClient()
  const [creating, setCreating] = useState(false)
  const [revoked, setRevoked] = useUrlState('revoked')
  const list = useQuery({ queryKey: ['apiKeys'], queryFn: () => api.apiKey.list.query() })
  const revoke = useMutation({
    mutationFn: (input: Inputs['apiKey']['revoke']) => api.apiKey.revoke.mutate(input),
    onSuccess: () => notifyDone('Key revoked'),
    onError: notifyError,
    onSettled: () => client.invalidateQueries({ queryKey: ['apiKeys'] }),
  })
  const ask = async (row: Row) => {
    const yes = await confirm({
      title: `Revoke "${row.name}"?`,
      text: (
        <>
          The key ending in <Code>{row.last4}</Code> stops working immediately. This cannot be undone.
          {row.lastUsedAt ? (
            <>
              {' '}
              Last used <Time at={row.lastUsedAt} />.
            </>
          ) : (
            ' It was never used.'
          )}
        </>
      ),
      action: 'Revoke',
      danger: true,
    })
    if (yes) revoke.mutate({ id: row.id })
  }
  const all = list.data
  const hidden = all?.filter((row) => row.revokedAt).length ?? 0
  const rows = all && (revoked ? all : all.filter((row) => !row.revokedAt))
  const columns: Column<Row>[] = [
    { key: 'name', title: 'Name', primary: true, render: (row) => row.name },
    { key: 'last4', title: 'Ends in', render: (row) => <Code>{row.last4}</Code> },
    { key: 'access', title: 'Access', render: (row) => showScopes(row.scopes) },
    { key: 'created', title: 'Created', render: (row) => <Time at={row.createdAt} /> },
    { key: 'used', title: 'Last used', render: (row) => (row.lastUsedAt ? <Time at={row.lastUsedAt} /> : 'Never') },
    { key: 'expires', title: 'Expires', render: (row) => <Expiry at={row.expiresAt} /> },
    ...(revoked
      ? [
          {
            key: 'state',
            title: 'State',
            render: (row: Row) =>
              row.revokedAt ? (
                <Group gap={6}>
                  <Badge color="gray">Revoked</Badge>
                  <Time at={row.revokedAt} />
                </Group>
              ) : (
                <StatusBadge status="active" />
              ),
          },
        ]
      : []),
    {
      key: 'revoke',
      title: '',
      name: 'Actions',
      align: 'end',
      width: '1%',
      render: (row) =>
        !row.revokedAt && (
          <Button size="compact-sm" variant="default" onClick={() => void ask(row)} aria-label={`Revoke ${row.name}`}>
            Revoke
          </Button>
        ),
    },
  ]
  const begin = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => setCreating(true)}>
      New API key
    </Button>
  )
  return (
    <SettingsFrame
      title="API keys"
      text="Programs, scripts and MCP clients authenticate with an API key."
      actions={rows?.length === 0 ? undefined : begin}
    >
      {list.error && !all ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <div>
          <DataTable
            caption="Your API keys"
            columns={columns}
            rows={rows}
            rowKey={(row) => row.id}
            skeletonRows={3}
            empty={
              <EmptyState
                icon={<IconKey />}
                title="No API keys"
                text="Create one key per program, so that you can revoke each separately."
                action={begin}
              />
            }
          />
          {hidden > 0 && (
            <Switch
              mt="sm"
              label={`Show revoked keys (${hidden})`}
              checked={revoked !== ''}
              onChange={(event) => setRevoked(event.currentTarget.checked ? 'yes' : '')}
            />
          )}
        </div>
      )}
      <NewKey opened={creating} onClose={() => setCreating(false)} />
    </SettingsFrame>
  )
}

function Expiry({ at }: { at: string | null }) {
  if (!at) return 'Never'
  return Date.parse(at) <= now() ? (
    <Group gap={6}>
      <Badge color="gray">Expired</Badge>
      <Time at={at} past />
    </Group>
  ) : (
    <Time at={at} />
  )
}
