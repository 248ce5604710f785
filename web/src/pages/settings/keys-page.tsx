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
import { keysPageText } from '../../text/settings'
import { commonText } from '../../text/common'

type Row = Outputs['apiKey']['list'][number]

/** The user's API keys. */
export default function KeysPage() {
  const client = useQueryClient()
  const [creating, setCreating] = useState(false)
  const [revoked, setRevoked] = useUrlState('revoked')
  const list = useQuery({ queryKey: ['apiKeys'], queryFn: () => api.apiKey.list.query() })
  const revoke = useMutation({
    mutationFn: (input: Inputs['apiKey']['revoke']) => api.apiKey.revoke.mutate(input),
    onSuccess: () => notifyDone(keysPageText.keyRevoked),
    onError: notifyError,
    onSettled: () => client.invalidateQueries({ queryKey: ['apiKeys'] }),
  })
  const ask = async (row: Row) => {
    const yes = await confirm({
      title: keysPageText.revoke(row.name),
      text: (
        <>
          {keysPageText.theKeyEndingIn} <Code>{row.last4}</Code> {keysPageText.stopsWorkingImmediatelyThis}
          {row.lastUsedAt ? (
            <>
              {' '}
              {keysPageText.lastUsed} <Time at={row.lastUsedAt} />.
            </>
          ) : (
            keysPageText.itWasNeverUsed
          )}
        </>
      ),
      action: commonText.revoke,
      danger: true,
    })
    if (yes) revoke.mutate({ id: row.id })
  }
  const all = list.data
  const hidden = all?.filter((row) => row.revokedAt).length ?? 0
  const rows = all && (revoked ? all : all.filter((row) => !row.revokedAt))
  const columns: Column<Row>[] = [
    { key: 'name', title: commonText.name, primary: true, render: (row) => row.name },
    { key: 'last4', title: keysPageText.endsIn, width: '90px', render: (row) => <Code>{row.last4}</Code> },
    { key: 'access', title: keysPageText.access, width: '150px', render: (row) => showScopes(row.scopes) },
    { key: 'created', title: commonText.created, width: '125px', render: (row) => <Time at={row.createdAt} /> },
    {
      key: 'used',
      title: keysPageText.lastUsed,
      width: '125px',
      render: (row) => (row.lastUsedAt ? <Time at={row.lastUsedAt} /> : commonText.never),
    },
    { key: 'expires', title: keysPageText.expires, width: '110px', render: (row) => <Expiry at={row.expiresAt} /> },
    ...(revoked
      ? [
          {
            key: 'state',
            title: keysPageText.state,
            render: (row: Row) =>
              row.revokedAt ? (
                <Group gap={6}>
                  <Badge color="gray">{keysPageText.revoked}</Badge>
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
      name: commonText.actions,
      align: 'end',
      width: '1%',
      render: (row) =>
        !row.revokedAt && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => void ask(row)}
            aria-label={keysPageText.revoke2(row.name)}
          >
            {commonText.revoke}
          </Button>
        ),
    },
  ]
  const begin = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => setCreating(true)}>
      {keysPageText.newApiKey}
    </Button>
  )
  return (
    <SettingsFrame
      title={keysPageText.apiKeys}
      text={keysPageText.programsScriptsAndMcpClients}
      actions={rows?.length === 0 ? undefined : begin}
    >
      {list.error && !all ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <div>
          <DataTable
            caption={keysPageText.yourApiKeys}
            columns={columns}
            rows={rows}
            rowKey={(row) => row.id}
            skeletonRows={3}
            empty={
              <EmptyState
                icon={<IconKey />}
                title={keysPageText.noApiKeys}
                text={keysPageText.createOneKeyPerProgramSo}
                action={begin}
              />
            }
          />
          {hidden > 0 && (
            <Switch
              mt="sm"
              label={keysPageText.showRevokedKeys(hidden)}
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
  if (!at) return commonText.never
  return Date.parse(at) <= now() ? (
    <Group gap={6}>
      <Badge color="gray">{keysPageText.expired}</Badge>
      <Time at={at} past />
    </Group>
  ) : (
    <Time at={at} />
  )
}
