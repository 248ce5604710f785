import { Anchor, MultiSelect, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '../api/client'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { isError } from './issues'
import { TemplateField } from './template-field'
import type { FormIssue } from './types'
import { connectionFieldText } from '../text/forms'

/** A connection, chosen by name. */
export function ConnectionField(props: ControlProps) {
  const { field, id, label, value, onChange, issues, required, actions } = props
  const { readOnly, complete } = useFormState()
  const { data, note, known } = useConnections(field.connectionTypes ?? [])
  const text = typeof value === 'string' ? value : ''
  if (complete && text.includes('{{')) return <TemplateField {...props} lines={false} />
  const found = withUnknown(issues, known && text !== '' && !known.has(text) ? [text] : [])
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={
        <>
          {field.description} {note}
        </>
      }
      issues={found}
      actions={actions}
    >
      <Select
        {...about(id, found, required)}
        data={withOwn(data, text)}
        value={text === '' ? null : text}
        onChange={(next) => onChange(next ?? undefined)}
        searchable
        readOnly={readOnly}
        placeholder={connectionFieldText.chooseAConnection}
        nothingFoundMessage={connectionFieldText.noConnectionsOfThisType}
        error={found.some(isError)}
        comboboxProps={{ withinPortal: true }}
      />
    </Frame>
  )
}

/** Several connections. */
export function ConnectionsField({ field, id, label, value, onChange, issues, required, actions }: ControlProps) {
  const { readOnly } = useFormState()
  const { data, note, known } = useConnections(field.connectionTypes ?? [])
  const list = Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
  const found = withUnknown(issues, known ? list.filter((one) => !known.has(one)) : [])
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={
        <>
          {field.description} {note}
        </>
      }
      issues={found}
      actions={actions}
    >
      <MultiSelect
        {...about(id, found, required)}
        data={list.reduce(withOwn, data)}
        value={list}
        onChange={(next) => onChange(next.length === 0 && !required ? undefined : next)}
        searchable
        readOnly={readOnly}
        placeholder={list.length === 0 ? connectionFieldText.chooseConnections : undefined}
        nothingFoundMessage={connectionFieldText.noConnectionsOfThisType}
        error={found.some(isError)}
        comboboxProps={{ withinPortal: true }}
      />
    </Frame>
  )
}

type Option = { value: string; label: string }

function useConnections(wanted: string[]) {
  const key = wanted.join(' ')
  const { context } = useFormState()
  const of = context.organizationId
  // All connections that the user may use, even if the blueprint belongs to an organization: a run can use those of its
  // starter too.
  const list = useQuery({
    queryKey: ['connection', 'list'],
    queryFn: () => api.connection.list.query(),
    staleTime: 30_000,
  })
  return useMemo(() => {
    const types = key === '' ? [] : key.split(' ')
    const fit = (list.data ?? []).filter((one) => types.length === 0 || types.includes(one.type))
    fit.sort(
      (a, b) => Number(b.organizationId === of) - Number(a.organizationId === of) || a.name.localeCompare(b.name),
    )
    const names = new Map<string, number>()
    for (const one of fit) names.set(one.name, (names.get(one.name) ?? 0) + 1)
    const data: Option[] = fit.map((one) => ({
      value: one.id,
      label:
        names.get(one.name)! > 1
          ? `${one.name} (${one.type}, ${one.id.slice(-6)})`
          : types.length === 1
            ? one.name
            : `${one.name} (${one.type})`,
    }))
    const note = list.isError ? (
      connectionFieldText.couldNotLoadTheConnections
    ) : list.data && fit.length === 0 ? (
      <>
        {connectionFieldText.youHaveNoConnection}
        {types.length > 0 && connectionFieldText.ofType(types.join(' or '))} {connectionFieldText.yet}{' '}
        <Anchor size="xs" href="/connections" target="_blank" rel="noreferrer">
          {connectionFieldText.createConnectionOpensInANew}
        </Anchor>
      </>
    ) : null
    return { data, note, known: list.data && new Set(list.data.map((one) => one.id)) }
  }, [list.data, list.isError, key, of])
}

// A value that is not in the list is shown unchanged.
function withOwn(data: Option[], value: string): Option[] {
  return value === '' || data.some((one) => one.value === value) ? data : [...data, { value, label: value }]
}

function withUnknown(issues: readonly FormIssue[], unknown: string[]): readonly FormIssue[] {
  return unknown.length === 0
    ? issues
    : [
        ...issues,
        ...unknown.map((one) => ({
          path: [],
          message: connectionFieldText.doesNotExistOrYouCannot(one),
          severity: 'warning',
        })),
      ]
}
