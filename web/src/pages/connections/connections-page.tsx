import { Anchor, Button, Group, NativeSelect, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { IconPlugConnected, IconPlus } from '@tabler/icons-react'
import { Link } from 'wouter'
import { api } from '../../api/client'
import { useSignedIn } from '../../api/session'
import { type Column, DataTable, EmptyState, ErrorNote, PageHeader, SearchField, Time, useUrlStates } from '../../parts'
import { useOrganizationFilter } from '../../shell/organization'
import { ownerOf } from './owner'
import { type Connection, TypeIcon, typeTitle } from './types'
import { useUses } from './use-uses'
import { connectionsPageText } from '../../text/connections'
import { commonText } from '../../text/common'

/** All connections that the signed-in user may use. */
export default function ConnectionsPage() {
  const session = useSignedIn()
  const { id: organizationId } = useOrganizationFilter()
  const [{ search, type }, set] = useUrlStates({ search: '', type: '' })
  const list = useQuery({ queryKey: ['connection', 'list'], queryFn: () => api.connection.list.query() })
  const all = list.data
  const uses = useUses(all !== undefined && all.length > 0)
  const wanted = search.trim().toLowerCase()
  // The personal workspace lists the user's own connections.
  const personal = session.organizations.find((one) => one.id === organizationId)?.personal === true
  const rows = all
    ?.filter(
      (one) =>
        organizationId === undefined ||
        (one.organizationId === null ? personal : one.organizationId === organizationId),
    )
    .filter((one) => (type === '' || one.type === type) && (wanted === '' || one.name.toLowerCase().includes(wanted)))
  const begin = (
    <Button component={Link} href="/connections/new" leftSection={<IconPlus size={17} aria-hidden />}>
      {connectionsPageText.newConnection}
    </Button>
  )
  const columns: Column<Connection>[] = [
    {
      key: 'name',
      title: commonText.name,
      primary: true,
      render: (row) => (
        <Group gap={9} wrap="nowrap">
          <TypeIcon type={row.type} />
          <Anchor component={Link} href={`/connections/${row.id}`} inherit>
            {row.name}
          </Anchor>
        </Group>
      ),
    },
    { key: 'type', title: commonText.type, width: '130px', render: (row) => typeTitle(row.type) },
    { key: 'owner', title: connectionsPageText.availableTo, width: '180px', render: (row) => ownerOf(row, session) },
    {
      key: 'uses',
      title: connectionsPageText.usedBy,
      width: '150px',
      render: (row) => <UsedBy of={row.id} uses={uses} />,
    },
    { key: 'updated', title: commonText.updated, width: '140px', render: (row) => <Time at={row.updatedAt} /> },
  ]
  const types = [...new Set(all?.map((one) => one.type))].sort()
  const searching = wanted !== '' || type !== ''
  return (
    <>
      <PageHeader title={commonText.connections} actions={all?.length === 0 ? undefined : begin} />
      {list.error && !all ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <>
          {all && all.length > 5 && (
            <Group mb="sm" gap="sm">
              <SearchField
                label={connectionsPageText.searchConnections}
                value={search}
                onSearch={(text) => set({ search: text })}
                style={{ flex: '1 1 220px' }}
                maw={360}
              />
              <NativeSelect
                aria-label={commonText.type}
                data={[
                  { value: '', label: connectionsPageText.allTypes },
                  ...types.map((value) => ({ value, label: typeTitle(value) })),
                ]}
                value={type}
                onChange={(event) => set({ type: event.currentTarget.value })}
              />
            </Group>
          )}
          <DataTable
            caption={commonText.connections}
            columns={columns}
            rows={rows}
            rowKey={(row) => row.id}
            skeletonRows={3}
            empty={
              all && all.length > 0 ? (
                <EmptyState
                  icon={<IconPlugConnected />}
                  title={connectionsPageText.noConnectionsFound}
                  text={
                    searching
                      ? connectionsPageText.noConnectionMatchesThisNameAnd
                      : connectionsPageText.thisOrganizationHasNo
                  }
                  action={
                    searching ? (
                      <Button variant="default" onClick={() => set({ search: '', type: '' })}>
                        {connectionsPageText.clearSearch}
                      </Button>
                    ) : (
                      begin
                    )
                  }
                />
              ) : (
                <EmptyState
                  icon={<IconPlugConnected />}
                  title={connectionsPageText.noConnectionsYet}
                  text={connectionsPageText.aConnectionHoldsTheAddressAnd}
                  action={begin}
                />
              )
            }
          />
        </>
      )}
    </>
  )
}

function UsedBy({ of, uses }: { of: string; uses: ReturnType<typeof useUses> }) {
  if (uses.isPending) return <Skeleton h={14} w={90} />
  if (!uses.data)
    return (
      <Text size="sm" c="dimmed" title={connectionsPageText.couldNotLoadTheBlueprints}>
        {connectionsPageText.unknown}
      </Text>
    )
  const users = uses.data.users.get(of) ?? []
  if (users.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {uses.data.whole ? connectionsPageText.nothingYet : connectionsPageText.nothingFound}
      </Text>
    )
  const blueprints = users.filter((user) => user.kind === 'blueprint').length
  const words =
    blueprints === users.length ? connectionsPageText.blueprints(blueprints) : connectionsPageText.things(users.length)
  return (
    <span
      title={users
        .slice(0, 10)
        .map((user) => user.title)
        .join(', ')}
    >
      {words}
    </span>
  )
}
