import { Badge, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, type Inputs, type Outputs } from '../../api/client'
import { type Organization, useSignedIn } from '../../api/session'
import { type Column, confirm, DataTable, ErrorNote, notifyDone, notifyError, Pager, SearchField } from '../../parts'
import { givable, isLastOwner, mayTouch, type Role, roleTitle } from './roles'
import { Section } from './section'
import { refreshOrganizations } from './use-organizations'
import { membersTableText } from '../../text/settings'
import { commonText } from '../../text/common'

type Row = Outputs['organization']['members'][number]

const perPage = 50

/** The members of an organization, with the changes that the signed-in user may make. */
export function MembersTable({ of }: { of: Organization }) {
  const { user } = useSignedIn()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const [search, setSearch] = useState('')
  const [page, setPage] = useState(1)
  const list = useQuery({
    queryKey: ['members', of.id],
    queryFn: () => api.organization.members.query({ organizationId: of.id }),
  })
  const refresh = () =>
    Promise.all([client.invalidateQueries({ queryKey: ['members', of.id] }), refreshOrganizations()])
  const change = useMutation({
    mutationFn: (input: Inputs['organization']['addMember']) => api.organization.addMember.mutate(input),
    onSuccess: (member) =>
      notifyDone(membersTableText.isNow(member.name || member.email, roleTitle(member.role).toLowerCase())),
    onError: notifyError,
    onSettled: refresh,
  })
  const remove = useMutation({
    mutationFn: (input: Inputs['organization']['removeMember']) => api.organization.removeMember.mutate(input),
    onError: notifyError,
  })

  const give = async (row: Row, role: Role) => {
    const own = row.userId === user.id
    if (
      own &&
      !(await confirm({
        title: membersTableText.changeYourRoleTo(roleTitle(role).toLowerCase()),
        text: membersTableText.onlyAnotherOwnerCanRestoreYour,
        action: membersTableText.changeMyRole,
        danger: true,
      }))
    )
      return
    change.mutate({ organizationId: of.id, email: row.email, role })
  }
  const takeOut = async (row: Row) => {
    const own = row.userId === user.id
    const yes = await confirm(
      own
        ? {
            title: membersTableText.leave(of.name),
            text: membersTableText.youLoseAccessToItsBlueprints,
            action: membersTableText.leave2,
            danger: true,
          }
        : {
            title: membersTableText.removeFrom(row.name || row.email, of.name),
            text: membersTableText.theyLoseAccessToItsBlueprints,
            action: commonText.remove,
            danger: true,
          },
    )
    if (!yes) return
    remove.mutate(
      { organizationId: of.id, userId: row.userId },
      {
        onSuccess: async () => {
          notifyDone(own ? membersTableText.youLeft(of.name) : membersTableText.removed(row.name || row.email))
          if (own) {
            navigate('/settings/organizations')
            await refreshOrganizations()
          } else await refresh()
        },
      },
    )
  }

  const last = isLastOwner(list.data ?? [], user.id)
  const columns: Column<Row>[] = [
    {
      key: 'name',
      title: commonText.name,
      primary: true,
      render: (row) => (
        <Group gap={8} wrap="nowrap">
          <span>{row.name || row.email}</span>
          {row.userId === user.id && <Badge color="petrol">{commonText.you}</Badge>}
        </Group>
      ),
    },
    { key: 'email', title: commonText.email, render: (row) => row.email },
    {
      key: 'role',
      title: commonText.role,
      width: '150px',
      render: (row) =>
        mayTouch(of.role, row.role) && !(last && row.userId === user.id) && givable(of.role).length > 1 ? (
          <NativeSelect
            size="xs"
            aria-label={membersTableText.roleOf(row.name || row.email)}
            data={givable(of.role).map((role) => ({ value: role, label: roleTitle(role) }))}
            value={change.isPending && change.variables.email === row.email ? change.variables.role : row.role}
            onChange={(event) => void give(row, event.currentTarget.value as Role)}
          />
        ) : (
          roleTitle(row.role)
        ),
    },
    {
      key: 'remove',
      title: '',
      name: commonText.actions,
      align: 'end',
      width: '1%',
      render: (row) =>
        row.userId === user.id
          ? !last && (
              <Button size="compact-sm" variant="default" onClick={() => void takeOut(row)}>
                {membersTableText.leave2}
              </Button>
            )
          : mayTouch(of.role, row.role) && (
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => void takeOut(row)}
                aria-label={membersTableText.remove(row.name || row.email)}
              >
                {commonText.remove}
              </Button>
            ),
    },
  ]
  const wanted = search.trim().toLowerCase()
  const found = list.data?.filter((row) => wanted === '' || `${row.name} ${row.email}`.toLowerCase().includes(wanted))
  const pages = Math.max(1, Math.ceil((found?.length ?? 0) / perPage))
  const shown = Math.min(page, pages)
  return (
    <Section
      title={membersTableText.members}
      text={last || (list.isPending && of.role === 'owner') ? membersTableText.youAreTheOnlyOwnerTo : undefined}
    >
      {list.error && !list.data ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Stack gap="xs">
          {(list.data?.length ?? 0) > 10 && (
            <SearchField
              label={membersTableText.searchMembers}
              value={search}
              onSearch={(text) => {
                setSearch(text)
                setPage(1)
              }}
              maw={320}
            />
          )}
          <DataTable
            caption={membersTableText.membersOf(of.name)}
            columns={columns}
            rows={found?.slice((shown - 1) * perPage, shown * perPage)}
            rowKey={(row) => row.userId}
            skeletonRows={1}
            empty={
              <Text size="sm" c="dimmed">
                {membersTableText.noMemberMatchesThisSearch}
              </Text>
            }
          />
          {(found?.length ?? 0) > perPage && (
            <Pager
              page={shown}
              pages={pages}
              onPage={setPage}
              total={found?.length}
              noun={membersTableText.member}
              label={membersTableText.memberPages}
            />
          )}
        </Stack>
      )}
    </Section>
  )
}
