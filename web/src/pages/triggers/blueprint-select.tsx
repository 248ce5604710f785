import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import { blueprintSelectText } from '../../text/triggers'

type Props = {
  label: string
  description?: string
  value: string
  onChange: (id: string) => void
  placeholder?: string
  clearable?: boolean
  error?: string
  /** Only blueprints that the user manages. */ managed?: boolean
}

/** Chooses one of many blueprints by title. */
export function BlueprintSelect({
  label,
  description,
  value,
  onChange,
  placeholder,
  clearable,
  error,
  managed,
}: Props) {
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, 250)
  const found = useQuery({
    queryKey: ['blueprints', 'to choose', search],
    queryFn: () =>
      api.blueprint.listSummaries.query({ limit: 50, ...(search.trim() ? { search: search.trim() } : {}) }),
    placeholderData: keepPreviousData,
  })
  const chosen = useQuery({
    queryKey: ['blueprint', value, 'title'],
    queryFn: async () => (await api.blueprint.get.query({ id: value })).title,
    enabled: value !== '',
    staleTime: 60_000,
    retry: false,
  })
  const data = (found.data?.data ?? [])
    .filter((one) => !managed || one.can_manage)
    .map(({ id, title }) => ({ value: id, label: title }))
  if (value && !data.some((one) => one.value === value))
    data.unshift({
      value,
      label: chosen.data ?? (chosen.isError ? blueprintSelectText.aBlueprintThatYouCannotSee : '…'),
    })
  return (
    <Select
      label={label}
      description={description}
      data={data}
      value={value || null}
      onChange={(id) => onChange(id ?? '')}
      placeholder={placeholder}
      searchable
      clearable={clearable}
      onSearchChange={(next) => setText(data.some((one) => one.label === next) ? '' : next)}
      filter={({ options }) => options}
      nothingFoundMessage={blueprintSelectText.noBlueprintsFound}
      error={error}
      comboboxProps={{ withinPortal: true }}
      clearButtonProps={{ 'aria-label': blueprintSelectText.noBlueprint }}
    />
  )
}
