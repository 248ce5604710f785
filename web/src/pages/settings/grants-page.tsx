import { Anchor, Button, Code } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { IconShieldCheck } from '@tabler/icons-react'
import { Link } from 'wouter'
import { api, type Outputs } from '../../api/client'
import { type Column, confirm, DataTable, EmptyState, ErrorNote, notifyDone, notifyError, Time } from '../../parts'
import { showAuthor } from '../authority/grant-note'
import { SettingsFrame } from './settings-frame'

type Row = Outputs['blueprint']['listGrants'][number]

/** The versions by other users that the user has granted. */
export default function GrantsPage() {
  const client = useQueryClient()
  const list = useQuery({ queryKey: ['grants'], queryFn: () => api.blueprint.listGrants.query() })
  const revoke = useMutation({
    mutationFn: ({ blueprintId }: Row) => api.blueprint.revokeGrant.mutate({ id: blueprintId }),
    onSuccess: (_answer, { title }) => notifyDone(`Grants for “${title}” revoked`),
    onError: notifyError,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['grants'] }),
        client.invalidateQueries({ queryKey: ['authority'] }),
      ]),
  })
  const ask = async (row: Row) => {
    const count = list.data?.filter(({ blueprintId }) => blueprintId === row.blueprintId).length ?? 1
    const yes = await confirm({
      title: `Revoke ${count > 1 ? `all ${count} grants` : 'the grant'} for “${row.title}”?`,
      text: 'Steps that use your resources will fail until you grant the version again.',
      action: 'Revoke',
      danger: true,
    })
    if (yes) revoke.mutate(row)
  }
  const columns: Column<Row>[] = [
    {
      key: 'title',
      title: 'Blueprint',
      primary: true,
      render: (row) => (
        <Anchor component={Link} href={`/blueprints/${row.blueprintId}`} fw={550} inherit>
          {row.title}
        </Anchor>
      ),
    },
    { key: 'version', title: 'Version', render: (row) => <Code>{row.version}</Code> },
    { key: 'author', title: 'Author', render: (row) => showAuthor(row.author) },
    { key: 'at', title: 'Granted', render: (row) => <Time at={row.grantedAt} /> },
    {
      key: 'revoke',
      title: '',
      name: 'Actions',
      align: 'end',
      width: '1%',
      render: (row) => (
        <Button
          size="compact-sm"
          variant="default"
          loading={revoke.isPending && revoke.variables === row}
          onClick={() => void ask(row)}
          aria-label={`Revoke grants for ${row.title}`}
        >
          Revoke
        </Button>
      ),
    },
  ]
  return (
    <SettingsFrame
      title="Grants"
      text="Blueprint versions by other users that may use your connections, sign-ins, private blueprints, files and secret variables when a run acts for you."
    >
      {list.error && !list.data ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <DataTable
          caption="Granted versions"
          columns={columns}
          rows={list.data}
          rowKey={(row) => `${row.blueprintId} ${row.version}`}
          skeletonRows={3}
          empty={
            <EmptyState
              icon={<IconShieldCheck />}
              title="No grants"
              text="A trigger or a failed run asks for a grant when another user’s version needs your resources."
            />
          }
        />
      )}
    </SettingsFrame>
  )
}
