import { Button, NativeSelect, Stack } from '@mantine/core'
import { IconBolt, IconPlus } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Inputs } from '../../api/client'
import { EmptyState, ErrorNote, FilterBar, Pager, SearchField, useUrlStates } from '../../parts'
import { useOrganizationFilter } from '../../shell/organization'
import { isType, kinds, types } from './kinds'
import { TriggerTable } from './trigger-table'
import { TypeCards } from './type-cards'
import { useTriggerList, useTriggersOf } from './use-triggers'
import { triggersViewText } from '../../text/triggers'
import { commonText } from '../../text/common'

const perPage = 20
const noFilters = { type: '', active: '', search: '', page: '1' }

/** All triggers that the user may see, with filters. */
export function AllTriggers() {
  const [filters, set] = useUrlStates(noFilters)
  const organization = useOrganizationFilter()
  const query: NonNullable<Inputs['blueprintTriggers']['listAll']> = {
    page: Math.max(1, Number.parseInt(filters.page, 10) || 1),
    limit: perPage,
    ...(isType(filters.type) ? { type: filters.type } : {}),
    ...(filters.active === 'yes' || filters.active === 'no' ? { active: filters.active === 'yes' } : {}),
    ...(filters.search.trim() ? { search: filters.search.trim() } : {}),
    ...(organization.id ? { organizationId: organization.id } : {}),
  }
  const list = useTriggerList(query, true)
  const filtered = Boolean(filters.type || filters.active || filters.search || organization.id)
  const pages = Math.max(1, list.data?.pagination.totalPages ?? 1)
  const off = () => {
    set(noFilters)
    organization.choose(undefined)
  }
  return (
    <>
      <FilterBar
        label={triggersViewText.filterTriggers}
        search={
          <SearchField
            label={triggersViewText.searchTriggers}
            value={filters.search}
            onSearch={(search) => set({ search, page: '1' })}
          />
        }
        set={[filters.type, filters.active].filter(Boolean).length}
      >
        <NativeSelect
          aria-label={commonText.type}
          data={[
            { value: '', label: triggersViewText.anyType },
            ...types.map((value) => ({ value, label: kinds[value].title })),
          ]}
          value={filters.type}
          onChange={(event) => set({ type: event.currentTarget.value, page: '1' })}
        />
        <NativeSelect
          aria-label={commonText.status}
          data={[
            { value: '', label: triggersViewText.anyStatus },
            { value: 'yes', label: commonText.active },
            { value: 'no', label: commonText.paused },
          ]}
          value={filters.active}
          onChange={(event) => set({ active: event.currentTarget.value, page: '1' })}
        />
      </FilterBar>
      {list.error && !list.data ? (
        <ErrorNote
          error={list.error}
          title={triggersViewText.couldNotLoadTheTriggers}
          onRetry={() => void list.refetch()}
        />
      ) : (
        <TriggerTable
          rows={list.data?.data}
          ofOneBlueprint={false}
          stale={list.isPlaceholderData}
          empty={
            filtered || (list.data?.pagination.total ?? 0) > 0 ? (
              <EmptyState
                icon={<IconBolt />}
                title={triggersViewText.noTriggersFound}
                text={triggersViewText.noTriggerMatchesTheseFilters}
                action={
                  <Button variant="default" onClick={off}>
                    {triggersViewText.clearFilters}
                  </Button>
                }
              />
            ) : (
              <Nothing />
            )
          }
        />
      )}
      {list.data && list.data.data.length > 0 && (
        <Pager
          page={list.data.pagination.page}
          pages={pages}
          total={list.data.pagination.total}
          noun={triggersViewText.trigger}
          label={triggersViewText.triggerPages}
          onPage={(page) => {
            set({ page: String(page) }, { push: true })
            scrollTo(0, 0)
          }}
        />
      )}
    </>
  )
}

/** The triggers of one blueprint: the Triggers tab. The server lists them for managers only. */
export function TriggersView({ blueprintId, canManage }: { blueprintId: string; canManage: boolean }) {
  if (!canManage)
    return (
      <EmptyState
        icon={<IconBolt />}
        title={triggersViewText.triggersAreHidden}
        text={triggersViewText.onlyPeopleWhoManageThis}
      />
    )
  return <OfBlueprint blueprintId={blueprintId} />
}

function OfBlueprint({ blueprintId }: { blueprintId: string }) {
  const [{ page }, set] = useUrlStates({ page: '1' })
  const at = Math.max(1, Number.parseInt(page, 10) || 1)
  const list = useTriggersOf(blueprintId, (at - 1) * perPage, perPage)
  const pages = Math.max(1, Math.ceil(list.total / perPage))
  if (list.error)
    return <ErrorNote error={list.error} title={triggersViewText.couldNotLoadTheTriggers} onRetry={list.refetch} />
  if (list.rows?.length === 0) return <Nothing blueprintId={blueprintId} />
  return (
    <Stack gap="sm">
      <div>
        <Button
          component={Link}
          href={`/triggers/new?blueprint=${blueprintId}`}
          leftSection={<IconPlus size={17} aria-hidden />}
        >
          {triggersViewText.newTrigger}
        </Button>
      </div>
      <TriggerTable rows={list.rows} ofOneBlueprint />
      {list.rows && (
        <Pager
          page={at}
          pages={pages}
          total={list.total}
          noun={triggersViewText.trigger}
          label={triggersViewText.triggerPages}
          onPage={(next) => set({ page: String(next) }, { push: true })}
        />
      )}
    </Stack>
  )
}

function Nothing({ blueprintId }: { blueprintId?: string }) {
  return (
    <Stack gap="md">
      <EmptyState
        icon={<IconBolt />}
        title={triggersViewText.startAutomatically}
        text={triggersViewText.aTriggerStartsABlueprintWhen}
      />
      <TypeCards to={(type) => `/triggers/new?type=${type}${blueprintId ? `&blueprint=${blueprintId}` : ''}`} />
    </Stack>
  )
}
