import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import { blueprintFilterText } from '../../text/runs'
import { commonText } from '../../text/common'

/** Chooses one of many blueprints by searching. */
export function BlueprintFilter({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, 250)
  const found = useQuery({
    queryKey: ['blueprints', 'to filter by', search],
    queryFn: () =>
      api.blueprint.listSummaries.query({ limit: 20, ...(search.trim() ? { search: search.trim() } : {}) }),
    placeholderData: (before) => before,
  })
  const chosen = useQuery({
    queryKey: ['blueprint', value, 'title'],
    queryFn: async () => (await api.blueprint.get.query({ id: value })).title,
    enabled: value !== '',
    staleTime: 60_000,
  })
  const data = (found.data?.data ?? []).map(({ id, title }) => ({ value: id, label: title }))
  if (value && !data.some((one) => one.value === value))
    data.unshift({
      value,
      label:
        chosen.data ??
        (chosen.isError ? blueprintFilterText.aBlueprintThatYouCannotSee : blueprintFilterText.oneBlueprint),
    })
  return (
    <Select
      aria-label={commonText.blueprint}
      placeholder={blueprintFilterText.anyBlueprint}
      searchable
      clearable
      data={data}
      value={value || null}
      onChange={(id) => onChange(id ?? '')}
      onSearchChange={setText}
      filter={({ options }) => options}
      nothingFoundMessage={blueprintFilterText.noSuchBlueprint}
      clearButtonProps={{ 'aria-label': blueprintFilterText.anyBlueprint }}
      comboboxProps={{ width: 280, position: 'bottom-start' }}
    />
  )
}
