import { Select } from '@mantine/core'
import { useMemo } from 'react'
import { now } from '../../api/clock'
import { isZone, localZone, offset } from './zone'
import { zoneSelectText } from '../../text/triggers'

type Props = { value: string; onChange: (zone: string | undefined) => void; error?: string }

/** A time zone by its IANA name, with its current offset from UTC. */
export function ZoneSelect({ value, onChange, error }: Props) {
  const data = useMemo(() => zones(value), [value])
  return (
    <Select
      label={zoneSelectText.timeZone}
      description={zoneSelectText.timesReferToThisZoneYour(localZone())}
      data={data}
      value={value || 'UTC'}
      searchable
      error={error}
      limit={60}
      onChange={(next) => onChange(next ?? undefined)}
      nothingFoundMessage={zoneSelectText.noTimeZonesFound}
      comboboxProps={{ withinPortal: true }}
      allowDeselect={false}
    />
  )
}

function zones(chosen: string) {
  const minute = Math.floor(now() / 60_000)
  const names = new Set(['UTC', localZone(), ...Intl.supportedValuesOf('timeZone')])
  if (chosen) names.add(chosen)
  return [...names].map((value) => ({
    value,
    label: isZone(value) ? `${value} (${show(offset(minute, value))})` : value,
  }))
}

function show(minutes: number): string {
  const size = Math.abs(minutes)
  return `UTC${minutes < 0 ? '−' : '+'}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`
}
