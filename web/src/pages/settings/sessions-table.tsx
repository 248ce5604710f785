import { Badge, Button, Group } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { IconDeviceLaptop } from '@tabler/icons-react'
import { api, type Inputs, type Outputs } from '../../api/client'
import { type Column, confirm, DataTable, ErrorNote, notifyDone, notifyError, Time } from '../../parts'
import { showAgent } from './agent'
import { sessionsTableText } from '../../text/settings'
import { commonText } from '../../text/common'

type Row = Outputs['session']['list'][number]

/** The user's sessions, with a button to end each. */
export function SessionsTable() {
  const client = useQueryClient()
  const list = useQuery({ queryKey: ['sessions'], queryFn: () => api.session.list.query() })
  const revoke = useMutation({
    mutationFn: (input: Inputs['session']['revoke']) => api.session.revoke.mutate(input),
    onSuccess: () => notifyDone(sessionsTableText.sessionEnded),
    onError: notifyError,
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  })
  const end = async (row: Row) => {
    const yes = await confirm({
      title: sessionsTableText.endTheSessionOf(showAgent(row.agent)),
      text: sessionsTableText.thatBrowserMustSignInAgain,
      action: sessionsTableText.endSession,
      danger: true,
    })
    if (yes) revoke.mutate({ id: row.id })
  }
  const columns: Column<Row>[] = [
    {
      key: 'agent',
      title: sessionsTableText.browser,
      primary: true,
      render: (row) => (
        <Group gap="4px 8px">
          <Group gap={8} wrap="nowrap">
            <IconDeviceLaptop size={18} stroke={1.7} aria-hidden style={{ flex: 'none' }} />
            <span title={row.agent}>{showAgent(row.agent)}</span>
          </Group>
          {row.current && <Badge color="petrol">{sessionsTableText.thisBrowser}</Badge>}
        </Group>
      ),
    },
    { key: 'created', title: sessionsTableText.signedIn, render: (row) => <Time at={row.createdAt} /> },
    {
      key: 'used',
      title: sessionsTableText.lastUsed,
      render: (row) => <Time at={row.lastUsedAt} none={sessionsTableText.notUsedYet} />,
    },
    { key: 'ends', title: sessionsTableText.expires, render: (row) => <Time at={row.expiresAt} /> },
    {
      key: 'end',
      title: '',
      name: commonText.actions,
      align: 'end',
      width: '1%',
      render: (row) =>
        !row.current && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => void end(row)}
            aria-label={sessionsTableText.endSessionOf(showAgent(row.agent))}
            style={{ whiteSpace: 'nowrap' }}
          >
            {sessionsTableText.endSession}
          </Button>
        ),
    },
  ]
  const rows = list.data && [...list.data].sort((a, b) => Number(b.current) - Number(a.current))
  if (list.error && !list.data) return <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
  return (
    <DataTable
      caption={sessionsTableText.yourSessions}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.id}
      skeletonRows={1}
    />
  )
}
