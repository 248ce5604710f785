import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { IconHistory } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, type Outputs } from '../../api/client'
import { useSignedIn } from '../../api/session'
import { type Column, DataTable, EmptyState, ErrorNote, Pager, Time, useUrlStates } from '../../parts'
import { AuditDetails, DetailsToggle } from './audit-details'
import { AuditFilters, type Filters } from './audit-filters'
import classes from './audit.module.css'
import { actionWords, areaOf, byLink, targetHref, targetName, viaWord } from './audit-words'
import { SettingsFrame } from './settings-frame'
import { auditPageText, auditWordsText } from '../../text/settings'
import { commonText } from '../../text/common'

type Row = Outputs['auditLog']['list']['entries'][number]

const perPage = 50

/** The audit log: the user's own actions, or those in an organization that the user administers. */
export default function AuditPage() {
  const { user, organizations } = useSignedIn()
  const names = new Map(organizations.map(({ id, name }) => [id, name]))
  const [{ page, ...filters }, set] = useUrlStates({ page: '1', organization: '', area: '', via: '', who: '' })
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const at = Math.max(1, Math.floor(Number(page)) || 1)
  const { organization } = filters
  const list = useQuery({
    queryKey: ['audit', organization, at],
    queryFn: () =>
      api.auditLog.list.query({
        limit: perPage,
        offset: (at - 1) * perPage,
        ...(organization ? { organizationId: organization } : {}),
      }),
    placeholderData: (before, query) => (query?.queryKey[1] === organization ? keepPreviousData(before) : undefined),
  })
  const toggle = (id: string) => {
    const next = new Set(open)
    if (!next.delete(id)) next.add(id)
    setOpen(next)
  }
  const change = (part: Partial<Filters>) => set('organization' in part ? { ...part, page: '1' } : part)

  const columns: Column<Row>[] = [
    {
      key: 'what',
      title: auditPageText.action,
      primary: true,
      render: (row) => {
        const words = `${who(row, user.id)} ${actionWords(row)}`
        const id = `details-${row.id}`
        return (
          <div className={classes.what}>
            <Group gap={6} wrap="nowrap" justify="space-between">
              <Text size="sm">
                <b>{who(row, user.id)}</b> {actionWords(row)}
              </Text>
              <DetailsToggle open={open.has(row.id)} what={words} onToggle={() => toggle(row.id)} id={id} />
            </Group>
            {open.has(row.id) && <AuditDetails of={row} id={id} />}
          </div>
        )
      },
    },
    { key: 'target', title: auditPageText.target, width: '190px', render: (row) => <Target of={row} names={names} /> },
    { key: 'via', title: auditPageText.source, width: '120px', render: (row) => viaWord(row.via) },
    { key: 'when', title: auditPageText.time, width: '150px', render: (row) => <Time at={row.at} /> },
  ]
  const rows = list.data?.entries
  const shown = rows?.filter((row) => fits(row, filters, user.id))
  const filtered = filters.area !== '' || filters.via !== '' || filters.who !== ''
  const pages = Math.max(1, Math.ceil((list.data?.total ?? 0) / perPage))
  return (
    <SettingsFrame title={auditPageText.auditLog} text={auditPageText.whoChangedWhatWhenAndHow}>
      <Stack gap={0}>
        <AuditFilters filters={filters} onChange={change} />
        {filtered && rows && shown && pages > 1 && (
          <Text size="sm" c="dimmed" role="status" mb="sm">
            {auditPageText.ofTheEntriesOnThisPage(shown.length, rows.length)}
          </Text>
        )}
        {list.error && !list.data ? (
          <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <DataTable
            caption={auditPageText.auditLogNewestFirst}
            columns={columns}
            rows={shown}
            rowKey={(row) => row.id}
            stale={list.isPlaceholderData}
            empty={
              filtered && rows && rows.length > 0 ? (
                <EmptyState
                  icon={<IconHistory />}
                  title={auditPageText.noEntriesFound}
                  text={
                    pages > 1 ? auditPageText.theFiltersSearchThisPageOnly : auditPageText.noEntryMatchesTheseFilters
                  }
                  action={
                    <Button variant="default" onClick={() => set({ area: '', via: '', who: '' })}>
                      {auditPageText.clearFilters}
                    </Button>
                  }
                />
              ) : (
                <EmptyState
                  icon={<IconHistory />}
                  title={auditPageText.noEntriesYet}
                  text={auditPageText.everyChangeIsRecordedHere}
                />
              )
            }
          />
        )}
        {list.data && (
          <Pager
            page={at}
            pages={pages}
            onPage={(next) => set({ page: String(next) }, { push: true })}
            total={list.data?.total}
            noun={auditPageText.entry}
            label={auditPageText.auditLogPages}
          />
        )}
      </Stack>
    </SettingsFrame>
  )
}

function Target({ of, names }: { of: Row; names: ReadonlyMap<string, string> }) {
  const href = targetHref(of)
  const name = targetName(of, names)
  return href ? (
    <Anchor component={Link} href={href} inherit className={classes.target}>
      {name}
    </Anchor>
  ) : (
    <span className={classes.target}>{name}</span>
  )
}

function who(row: Row, own: string): string {
  if (row.actorId === own) return commonText.you
  if (row.action === byLink) return auditWordsText.aPersonWithALink
  return row.actorName || (row.actorId ? auditPageText.formerUser : auditPageText.theOperator)
}

function fits(row: Row, { area, via, who: text }: Filters, own: string): boolean {
  if (area !== '' && areaOf(row.action) !== area) return false
  if (via !== '' && row.via !== via) return false
  const wanted = text.trim().toLowerCase()
  return (
    wanted === '' ||
    `${who(row, own)} ${row.actorName} ${row.action} ${actionWords(row)} ${row.targetType} ${row.targetId}`
      .toLowerCase()
      .includes(wanted)
  )
}
