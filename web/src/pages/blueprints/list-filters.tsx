import { NativeSelect } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { FilterBar, SearchField } from '../../parts'
import { useOrganizationFilter } from '../../shell/organization'
import { shownTags } from './drafts'
import { listFiltersText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** The filters of the list in the address; an empty text means no filter. */
export const noFilters = { search: '', status: '', tag: '', category: '', sort: 'updated', page: '1' }
/** See {@link noFilters}. */
export type Filters = typeof noFilters

type Props = { filters: Filters; onChange: (change: Partial<Filters>) => void }

/** The filters above the list. Each change returns to the first page. */
export function ListFilters({ filters, onChange }: Props) {
  const tags = useQuery({
    queryKey: ['blueprints', 'tags'],
    queryFn: () => api.blueprint.listTags.query(),
    staleTime: 60_000,
  })
  const categories = useCategories()
  const set = (change: Partial<Filters>) => onChange({ ...change, page: '1' })
  const listed = (tags.data ?? []).filter(({ tag }) => shownTags([tag]).length > 0)
  const known = listed.some(({ tag }) => tag === filters.tag) || filters.tag === ''
  return (
    <FilterBar
      label={listFiltersText.filterBlueprints}
      search={
        <SearchField
          label={listFiltersText.searchTitlesAndDescriptions}
          value={filters.search}
          onSearch={(search) => set({ search })}
        />
      }
      set={[filters.status, filters.tag, filters.category].filter(Boolean).length}
    >
      <NativeSelect
        aria-label={commonText.status}
        value={filters.status}
        onChange={(event) => set({ status: event.currentTarget.value })}
        data={[
          { value: '', label: listFiltersText.anyStatus },
          { value: 'draft', label: commonText.draft },
          { value: 'published', label: commonText.published },
        ]}
      />
      {(tags.isPending || listed.length > 0 || filters.tag) && (
        <NativeSelect
          aria-label={listFiltersText.tag}
          value={filters.tag}
          onChange={(event) => set({ tag: event.currentTarget.value })}
          data={[
            { value: '', label: listFiltersText.anyTag },
            ...(known ? [] : [filters.tag]),
            ...listed.map(({ tag, count }) => ({
              value: tag,
              label: `${tag} (${count.toLocaleString('en')})`,
            })),
          ]}
        />
      )}
      {(categories.some(({ items }) => items.length > 0) || filters.category) && (
        <NativeSelect
          aria-label={listFiltersText.category}
          value={filters.category}
          onChange={(event) => set({ category: event.currentTarget.value })}
        >
          <option value="">{listFiltersText.anyCategory}</option>
          {categories.length === 1
            ? categories[0]!.items.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))
            : categories
                .filter(({ items }) => items.length > 0)
                .map(({ organization, items }) => (
                  <optgroup key={organization} label={organization}>
                    {items.map(({ id, name }) => (
                      <option key={id} value={id}>
                        {name}
                      </option>
                    ))}
                  </optgroup>
                ))}
        </NativeSelect>
      )}
      <NativeSelect
        aria-label={listFiltersText.sort}
        value={filters.sort}
        onChange={(event) => set({ sort: event.currentTarget.value })}
        data={[
          { value: 'updated', label: listFiltersText.recentlyUpdated },
          { value: 'created', label: listFiltersText.newest },
          { value: 'title', label: commonText.title },
        ]}
      />
    </FilterBar>
  )
}

// The categories of the chosen organization, or of all.
function useCategories() {
  const { id, organizations } = useOrganizationFilter()
  const asked = organizations.filter((one) => id === undefined || one.id === id)
  const answers = useQueries({
    queries: asked.map((one) => ({
      queryKey: ['categories', one.id],
      queryFn: () => api.category.list.query({ organizationId: one.id }),
      staleTime: 60_000,
    })),
  })
  return asked.map((one, index) => ({ organization: one.name, items: answers[index]?.data ?? [] }))
}
