import { Code, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { IconTool } from '@tabler/icons-react'
import { api, type Outputs } from '../../api/client'
import { useSignedIn } from '../../api/session'
import { type Column, DataTable, EmptyState, ErrorNote, notifyDone, notifyError } from '../../parts'
import { SettingsFrame } from './settings-frame'

type Row = Outputs['mcpTool']['list'][number]

/** The tools that the user's MCP clients see at /mcp, and those of other users that can be added. */
export default function ToolsPage() {
  const client = useQueryClient()
  const { user } = useSignedIn()
  const list = useQuery({ queryKey: ['mcpTools'], queryFn: () => api.mcpTool.list.query() })
  const turn = useMutation({
    mutationFn: ({ triggerId, enabled }: Row) =>
      (enabled ? api.mcpTool.disable : api.mcpTool.enable).mutate({ triggerId }),
    onSuccess: (_answer, row) => notifyDone(row.enabled ? `${row.name} disabled` : `${row.name} enabled`),
    onError: notifyError,
    onSettled: () => client.invalidateQueries({ queryKey: ['mcpTools'] }),
  })
  const columns: Column<Row>[] = [
    {
      key: 'name',
      title: 'Tool',
      primary: true,
      render: (row) => <Code style={{ overflowWrap: 'anywhere' }}>{row.name}</Code>,
    },
    {
      key: 'owner',
      title: 'Owner',
      render: (row) =>
        row.ownerId === user.id ? (
          'You'
        ) : (
          <Text size="sm" c="dimmed" ff="monospace" component="span" title={row.ownerId}>
            {row.ownerId.slice(0, 8)}
          </Text>
        ),
    },
    {
      key: 'enabled',
      title: 'Enabled',
      width: '110px',
      render: (row) => (
        <Switch
          aria-label={`Enable ${row.name}`}
          checked={row.enabled}
          disabled={turn.isPending && turn.variables.triggerId === row.triggerId}
          onChange={() => turn.mutate(row)}
        />
      ),
    },
  ]
  return (
    <SettingsFrame
      title="MCP tools"
      text="API triggers of published blueprints are tools at /mcp. Your own are enabled by default; enable those of other users here. A call acts for the owner of the tool."
    >
      {list.error && !list.data ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <DataTable
          caption="MCP tools"
          columns={columns}
          rows={list.data}
          rowKey={(row) => row.triggerId}
          skeletonRows={3}
          empty={
            <EmptyState
              icon={<IconTool />}
              title="No tools"
              text="API triggers of the blueprints you manage appear here."
            />
          }
        />
      )}
    </SettingsFrame>
  )
}
