import { Code, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { IconTool } from '@tabler/icons-react'
import { api, type Outputs } from '../../api/client'
import { useSignedIn } from '../../api/session'
import { type Column, DataTable, EmptyState, ErrorNote, notifyDone, notifyError } from '../../parts'
import { SettingsFrame } from './settings-frame'
import { toolsPageText } from '../../text/settings'
import { commonText } from '../../text/common'

type Row = Outputs['mcpTool']['list'][number]

/** The tools that the user's MCP clients see at /mcp, and those of other users that can be added. */
export default function ToolsPage() {
  const client = useQueryClient()
  const { user } = useSignedIn()
  const list = useQuery({ queryKey: ['mcpTools'], queryFn: () => api.mcpTool.list.query() })
  const turn = useMutation({
    mutationFn: ({ triggerId, enabled }: Row) =>
      (enabled ? api.mcpTool.disable : api.mcpTool.enable).mutate({ triggerId }),
    onSuccess: (_answer, row) =>
      notifyDone(row.enabled ? toolsPageText.disabled(row.name) : toolsPageText.enabled(row.name)),
    onError: notifyError,
    onSettled: () => client.invalidateQueries({ queryKey: ['mcpTools'] }),
  })
  const columns: Column<Row>[] = [
    {
      key: 'name',
      title: toolsPageText.tool,
      primary: true,
      render: (row) => <Code style={{ overflowWrap: 'anywhere' }}>{row.name}</Code>,
    },
    {
      key: 'owner',
      title: commonText.owner,
      render: (row) =>
        row.ownerId === user.id ? (
          commonText.you
        ) : (
          <Text size="sm" c="dimmed" ff="monospace" component="span" title={row.ownerId}>
            {row.ownerId.slice(0, 8)}
          </Text>
        ),
    },
    {
      key: 'enabled',
      title: toolsPageText.enabled2,
      width: '110px',
      render: (row) => (
        <Switch
          aria-label={toolsPageText.enable(row.name)}
          checked={row.enabled}
          disabled={turn.isPending && turn.variables.triggerId === row.triggerId}
          onChange={() => turn.mutate(row)}
        />
      ),
    },
  ]
  return (
    <SettingsFrame title={toolsPageText.mcpTools} text={toolsPageText.apiTriggersOfPublished}>
      {list.error && !list.data ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <DataTable
          caption={toolsPageText.mcpTools}
          columns={columns}
          rows={list.data}
          rowKey={(row) => row.triggerId}
          skeletonRows={3}
          empty={
            <EmptyState
              icon={<IconTool />}
              title={toolsPageText.noTools}
              text={toolsPageText.apiTriggersOfTheBlueprintsYou}
            />
          }
        />
      )}
    </SettingsFrame>
  )
}
