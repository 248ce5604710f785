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

type Query = NonNullable<Inputs['blueprint']['listSummaries']>

const scopes = [
  ['all', 'All'],
  ['own', 'Mine'],
  ['shared', 'Shared'],
  ['public', 'Public'],
  ['favorites', 'Favourites'],
] as const
const perPage = 25

/** /blueprints: the blueprints that one may see. */
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
    document.querySelector<HTMLInputElement>('#main input[type=search]')?.focus() // the button goes away
  }
  const lost = !list.isPlaceholderData && list.data?.data.length === 0 && list.data.pagination.total > 0 // a page past the end
  return (
    <>
      <PageHeader
        title="Blueprints"
        actions={
          <>
            <Button
              component={Link}
              href="/blueprints/new?from=file"
              variant="default"
              leftSection={<IconFileImport size={17} aria-hidden />}
            >
              Import
            </Button>
            <Button component={Link} href="/blueprints/new" leftSection={<IconPlus size={17} aria-hidden />}>
              New blueprint
            </Button>
          </>
        }
      />
      <UrlTabs
        label="Which blueprints"
        tabs={scopes.map(([key, title]) => ({
          href: key === 'all' ? '/blueprints' : `/blueprints?scope=${key}`,
          title,
          current: key === scope,
        }))}
      />
      <ListFilters filters={filters} onChange={change} />
      {list.error && !list.data ? (
        <ErrorNote error={list.error} title="The blueprints could not be listed" onRetry={() => void list.refetch()} />
      ) : (
        <BlueprintTable
          rows={list.data?.data}
          stale={list.isPlaceholderData}
          onTag={(tag) => set({ tag, page: '1' })}
          empty={
            lost ? (
              <EmptyState
                title="There is no such page"
                text={`The list has ${pages} ${pages === 1 ? 'page' : 'pages'}.`}
                action={
                  <Button variant="default" onClick={() => turn(1)}>
                    To the first page
                  </Button>
                }
              />
            ) : filtered ? (
              <EmptyState
                icon={<IconSchema />}
                title="No blueprints found"
                text="No blueprint matches these filters."
                action={
                  <Button variant="default" onClick={takeOff}>
                    Clear filters
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
          noun="blueprint"
          label="Pages of blueprints"
          onPage={turn}
        />
      )}
    </>
  )
}

const empty: Record<'shared' | 'public' | 'favorites', [icon: ReactNode, title: string, text: string]> = {
  shared: [
    <IconUsers key="i" />,
    'Nothing is shared with you',
    'Blueprints stand here that others let you edit, and those of your organizations.',
  ],
  public: [
    <IconWorld key="i" />,
    'No public blueprints of others',
    'Whoever manages a blueprint can make it public on its Share page. Everybody on this server may then look at it and run it.',
  ],
  favorites: [<IconHeart key="i" />, 'No favourites yet', 'Press the heart beside a blueprint to find it here again.'],
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
            Show all
          </Button>
        }
      />
    )
  }
  return (
    <>
      <EmptyState
        icon={<IconSchema />}
        title="Draw your first blueprint"
        text="A blueprint is a graph of steps: it takes something in, asks services and people, decides, and gives something out. Start it by hand, on a schedule, or when a webhook, mail or message comes."
        action={
          <Group gap="xs" justify="center">
            <Button component={Link} href="/blueprints/new" leftSection={<IconPlus size={17} aria-hidden />}>
              New blueprint
            </Button>
            <Button
              component={Link}
              href="/blueprints/new?from=file"
              variant="default"
              leftSection={<IconFileImport size={17} aria-hidden />}
            >
              Import a file
            </Button>
          </Group>
        }
      />
      <Starters />
    </>
  )
}
