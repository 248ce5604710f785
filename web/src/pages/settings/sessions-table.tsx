import { Badge, Button, Group } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { IconDeviceLaptop } from '@tabler/icons-react'
import { api, type Inputs, type Outputs } from '../../api/client'
import { type Column, confirm, DataTable, ErrorNote, notifyDone, notifyError, Time } from '../../parts'
import { showAgent } from './agent'

type Row = Outputs['session']['list'][number]

/** Where one is signed in, with a button to end each. */
export function SessionsTable() {
  const client = useQueryClient()
  const list = useQuery({ queryKey: ['sessions'], queryFn: () => api.session.list.query() })
  const revoke = useMutation({
    mutationFn: (input: Inputs['session']['revoke']) => api.session.revoke.mutate(input),
    onSuccess: () => notifyDone('That session has ended.'),
    onError: notifyError,
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  })
  const end = async (row: Row) => {
    const yes = await confirm({
      title: `End the session of ${showAgent(row.agent)}?`,
      text: 'Whoever uses that browser has to sign in again, from the next click on.',
      action: 'End session',
      danger: true,
    })
    if (yes) revoke.mutate({ id: row.id })
  }
  const columns: Column<Row>[] = [
    {
      key: 'agent',
      title: 'Browser',
      primary: true,
      render: (row) => (
        <Group gap="4px 8px">
          <Group gap={8} wrap="nowrap">
            <IconDeviceLaptop size={18} stroke={1.7} aria-hidden style={{ flex: 'none' }} />
            <span title={row.agent}>{showAgent(row.agent)}</span>
          </Group>
          {row.current && <Badge color="petrol">This browser</Badge>}
        </Group>
      ),
    },
    { key: 'created', title: 'Signed in', render: (row) => <Time at={row.createdAt} /> },
    { key: 'used', title: 'Last used', render: (row) => <Time at={row.lastUsedAt} none="not used yet" /> },
    { key: 'ends', title: 'Ends unless used', render: (row) => <Time at={row.expiresAt} /> },
    {
      key: 'end',
      title: '',
      name: 'Actions',
      align: 'end',
      width: '1%',
      render: (row) =>
        !row.current && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => void end(row)}
            aria-label={`End session of ${showAgent(row.agent)}`}
            style={{ whiteSpace: 'nowrap' }}
          >
            End session
          </Button>
        ),
    },
  ]
  const rows = list.data && [...list.data].sort((a, b) => Number(b.current) - Number(a.current))
  if (list.error && !list.data) return <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
  return (
    <DataTable
      caption="Where you are signed in"
      columns={columns}
      rows={rows}
      rowKey={(row) => row.id}
      skeletonRows={1}
    />
  )
}
