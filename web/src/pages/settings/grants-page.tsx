import { Anchor, Button, Code } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { IconShieldCheck } from '@tabler/icons-react'
import { Link } from 'wouter'
import { api, type Outputs } from '../../api/client'
import { type Column, confirm, DataTable, EmptyState, ErrorNote, notifyDone, notifyError, Time } from '../../parts'
import { showAuthor } from '../authority/grant-note'
import { SettingsFrame } from './settings-frame'
import { grantsPageText } from '../../text/settings'
import { commonText } from '../../text/common'

type Row = Outputs['blueprint']['listGrants'][number]

/** The versions by other users that the user has granted. */
export default function GrantsPage() {
  const client = useQueryClient()
  const list = useQuery({ queryKey: ['grants'], queryFn: () => api.blueprint.listGrants.query() })
  const revoke = useMutation({
    mutationFn: ({ blueprintId }: Row) => api.blueprint.revokeGrant.mutate({ id: blueprintId }),
    onSuccess: (_answer, { title }) => notifyDone(grantsPageText.grantsForRevoked(title)),
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
      title: grantsPageText.revokeFor(count > 1 ? grantsPageText.allGrants(count) : grantsPageText.theGrant, row.title),
      text: grantsPageText.stepsThatUseYourResourcesWill,
      action: commonText.revoke,
      danger: true,
    })
    if (yes) revoke.mutate(row)
  }
  const columns: Column<Row>[] = [
    {
      key: 'title',
      title: commonText.blueprint,
      primary: true,
      render: (row) => (
        <Anchor component={Link} href={`/blueprints/${row.blueprintId}`} fw={550} inherit>
          {row.title}
        </Anchor>
      ),
    },
    { key: 'version', title: commonText.version, render: (row) => <Code>{row.version}</Code> },
    { key: 'author', title: grantsPageText.author, render: (row) => showAuthor(row.author) },
    { key: 'at', title: grantsPageText.granted, render: (row) => <Time at={row.grantedAt} /> },
    {
      key: 'revoke',
      title: '',
      name: commonText.actions,
      align: 'end',
      width: '1%',
      render: (row) => (
        <Button
          size="compact-sm"
          variant="default"
          loading={revoke.isPending && revoke.variables === row}
          onClick={() => void ask(row)}
          aria-label={grantsPageText.revokeGrantsFor(row.title)}
        >
          {commonText.revoke}
        </Button>
      ),
    },
  ]
  return (
    <SettingsFrame title={grantsPageText.grants} text={grantsPageText.blueprintVersionsByOtherUsers}>
      {list.error && !list.data ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <DataTable
          caption={grantsPageText.grantedVersions}
          columns={columns}
          rows={list.data}
          rowKey={(row) => `${row.blueprintId} ${row.version}`}
          skeletonRows={3}
          empty={
            <EmptyState
              icon={<IconShieldCheck />}
              title={grantsPageText.noGrants}
              text={grantsPageText.aTriggerOrAFailedRun}
            />
          }
        />
      )}
    </SettingsFrame>
  )
}
