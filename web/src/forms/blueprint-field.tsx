import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { isError } from './issues'
import { TemplateField } from './template-field'
import { blueprintFieldText } from '../text/forms'

/** Another blueprint, chosen by title from those the user can see. */
export function BlueprintField(props: ControlProps) {
  const { field, id, label, value, onChange, issues, required, actions } = props
  const { readOnly, complete, context } = useFormState()
  const text = typeof value === 'string' ? value : ''
  const templated = complete !== undefined && text.includes('{{')
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, 250)
  const found = useQuery({
    queryKey: ['blueprints', 'to choose', search],
    enabled: !templated,
    placeholderData: keepPreviousData,
    queryFn: () =>
      api.blueprint.listSummaries.query({ limit: 50, ...(search.trim() ? { search: search.trim() } : {}) }),
  })
  const listed = (found.data?.data ?? [])
    .filter((one) => one.id !== context.blueprintId)
    .map((one) => ({ value: one.id, label: one.title }))
  const unlisted = text !== '' && !templated && found.data !== undefined && !listed.some((one) => one.value === text)
  const chosen = useQuery({
    queryKey: ['blueprint', text, 'title'],
    queryFn: async () => (await api.blueprint.get.query({ id: text })).title,
    enabled: unlisted,
    staleTime: 60_000,
    retry: false,
  })
  if (templated) return <TemplateField {...props} lines={false} />
  const data =
    text === '' || listed.some((one) => one.value === text)
      ? listed
      : [{ value: text, label: chosen.data ?? text }, ...listed]
  const hidden =
    unlisted && chosen.isError
      ? [{ path: [], message: blueprintFieldText.unknownBlueprintOrOneThatYou, severity: 'warning' }]
      : []
  const lines = [...issues, ...hidden]
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={
        <>
          {field.description}
          {found.isError && blueprintFieldText.couldNotLoadTheBlueprints}
        </>
      }
      issues={lines}
      actions={actions}
    >
      <Select
        {...about(id, lines, required)}
        data={data}
        value={text === '' ? null : text}
        onChange={(next) => onChange(next ?? undefined)}
        searchable
        onSearchChange={(next) => setTyped(data.some((one) => one.label === next) ? '' : next)}
        filter={({ options }) => options}
        readOnly={readOnly}
        placeholder={blueprintFieldText.chooseABlueprint}
        nothingFoundMessage={blueprintFieldText.noBlueprintsFound}
        error={issues.some(isError)}
        comboboxProps={{ withinPortal: true }}
      />
    </Frame>
  )
}
