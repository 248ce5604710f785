import { Button, Group } from '@mantine/core'
import { IconFileImport, IconHeart, IconPlus, IconSchema, IconUsers, IconWorld } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { api, type Inputs } from '../../api/client'
import { EmptyState, ErrorNote, PageHeader, Pager, UrlTabs, useUrlStates } from '../../parts'
import { useOrganizationFilter } from '../../shell/organization'
import { BlueprintTable } from './blueprint-table'
import { ListFilters, noFilters, type Filters } from './list-filters'
import { Starters } from './starters'
import { blueprintsPageText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Query = NonNullable<Inputs['blueprint']['listSummaries']>

const scopes = [
  ['all', commonText.all],
  ['own', blueprintsPageText.mine],
  ['shared', blueprintsPageText.shared],
  ['public', commonText.public],
  ['favorites', blueprintsPageText.favourites],
] as const
const perPage = 25

/** /blueprints: the blueprints visible to the user. */
export default function BlueprintsPage() {
  const [{ scope: asked, ...filters }, set] = useUrlStates({ ...noFilters, scope: 'all' })
  const scope = scopes.find(([key]) => key === asked)?.[0] ?? 'all'
  const organization = useOrganizationFilter()
  const query: Query = {
    page: Math.max(1, Number.parseInt(filters.page, 10) || 1),
    limit: perPage,
    scope,
    sort: filters.sort === 'created' || filters.sort === 'title' ? filters.sort : 'updated',
    ...(filters.search ? { search: filters.search } : {}),
    ...(filters.status === 'draft' || filters.status === 'published' ? { status: filters.status } : {}),
    ...(filters.tag ? { tag: filters.tag } : {}),
    ...(filters.category ? { categoryId: filters.category } : {}),
    ...(organization.id ? { organizationId: organization.id } : {}),
  }
  const list = useQuery({
    queryKey: ['blueprints', 'list', query],
    queryFn: () => api.blueprint.listSummaries.query(query),
    placeholderData: keepPreviousData,
  })
  const filtered = Boolean(filters.search || filters.status || filters.tag || filters.category || organization.id)
  const pages = Math.max(1, list.data?.pagination.totalPages ?? 1)
  const change = (next: Partial<Filters>) => set(next)
  const turn = (page: number) => {
    set({ page: String(page) }, { push: true })
    scrollTo(0, 0)
  }
  const takeOff = () => {
    set(noFilters)
    organization.choose(undefined)
    document.querySelector<HTMLInputElement>('#main input[type=search]')?.focus() // the button disappears
  }
  const lost = !list.isPlaceholderData && list.data?.data.length === 0 && list.data.pagination.total > 0 // a page after the last one
  return (
    <>
      <PageHeader
        title={commonText.blueprints}
        actions={
          <>
            <Button
              component={Link}
              href="/blueprints/new?from=file"
              variant="default"
              leftSection={<IconFileImport size={17} aria-hidden />}
            >
              {blueprintsPageText.import}
            </Button>
            <Button component={Link} href="/blueprints/new" leftSection={<IconPlus size={17} aria-hidden />}>
              {blueprintsPageText.newBlueprint}
            </Button>
          </>
        }
      />
      <UrlTabs
        label={blueprintsPageText.blueprintScope}
        tabs={scopes.map(([key, title]) => ({
          href: key === 'all' ? '/blueprints' : `/blueprints?scope=${key}`,
          title,
          current: key === scope,
        }))}
      />
      <ListFilters filters={filters} onChange={change} />
      {list.error && !list.data ? (
        <ErrorNote
          error={list.error}
          title={blueprintsPageText.couldNotLoadTheBlueprints}
          onRetry={() => void list.refetch()}
        />
      ) : (
        <BlueprintTable
          rows={list.data?.data}
          stale={list.isPlaceholderData}
          onTag={(tag) => set({ tag, page: '1' })}
          empty={
            lost ? (
              <EmptyState
                title={blueprintsPageText.pageNotFound}
                text={blueprintsPageText.theListHasPages(pages)}
                action={
                  <Button variant="default" onClick={() => turn(1)}>
                    {blueprintsPageText.goToTheFirstPage}
                  </Button>
                }
              />
            ) : filtered ? (
              <EmptyState
                icon={<IconSchema />}
                title={blueprintsPageText.noBlueprintsFound}
                text={blueprintsPageText.noBlueprintMatchesTheseFilters}
                action={
                  <Button variant="default" onClick={takeOff}>
                    {blueprintsPageText.clearFilters}
                  </Button>
                }
              />
            ) : (
              <Nothing scope={scope} />
            )
          }
        />
      )}
      {list.data && list.data.data.length > 0 && (
        <Pager
          page={list.data.pagination.page}
          pages={pages}
          total={list.data.pagination.total}
          noun={blueprintsPageText.blueprint}
          label={blueprintsPageText.pagesOfBlueprints}
          onPage={turn}
        />
      )}
    </>
  )
}

const empty: Record<'shared' | 'public' | 'favorites', [icon: ReactNode, title: string, text: string]> = {
  shared: [
    <IconUsers key="i" />,
    blueprintsPageText.nothingIsSharedWithYou,
    blueprintsPageText.blueprintsOfYourOrganizations,
  ],
  public: [
    <IconWorld key="i" />,
    blueprintsPageText.noPublicBlueprintsOfOthers,
    blueprintsPageText.publicBlueprintsCanBeViewedAnd,
  ],
  favorites: [<IconHeart key="i" />, blueprintsPageText.noFavouritesYet, blueprintsPageText.selectTheHeartNextToA],
}

function Nothing({ scope }: { scope: (typeof scopes)[number][0] }) {
  if (scope !== 'all' && scope !== 'own') {
    const [icon, title, text] = empty[scope]
    return (
      <EmptyState
        icon={icon}
        title={title}
        text={text}
        action={
          <Button component={Link} href="/blueprints" variant="default">
            {commonText.showAll}
          </Button>
        }
      />
    )
  }
  return (
    <>
      <EmptyState
        icon={<IconSchema />}
        title={blueprintsPageText.createYourFirstBlueprint}
        text={blueprintsPageText.aBlueprintIsAGraphOf}
        action={
          <Group gap="xs" justify="center">
            <Button component={Link} href="/blueprints/new" leftSection={<IconPlus size={17} aria-hidden />}>
              {blueprintsPageText.newBlueprint}
            </Button>
            <Button
              component={Link}
              href="/blueprints/new?from=file"
              variant="default"
              leftSection={<IconFileImport size={17} aria-hidden />}
            >
              {blueprintsPageText.importFile}
            </Button>
          </Group>
        }
      />
      <Starters />
    </>
  )
}
