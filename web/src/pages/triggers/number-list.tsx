import { MultiSelect } from '@mantine/core'

type Props = {
  label: string
  values: number[]
  all: { value: number; label: string }[]
  onChange: (values: number[]) => void
  placeholder?: string
  readOnly?: boolean
}

/** Chooses several numbers of a fixed list, by name. */
export function NumberList({ label, values, all, onChange, placeholder, readOnly }: Props) {
  return (
    <MultiSelect
      label={label}
      data={all.map((one) => ({ value: String(one.value), label: one.label }))}
      value={values.map(String)}
      readOnly={readOnly}
      onChange={(next) => onChange(next.map(Number).sort((a, b) => a - b))}
      placeholder={values.length === 0 ? placeholder : undefined}
      searchable
      hidePickedOptions
      style={{ flex: values.length > 3 ? '2 1 260px' : undefined }}
      comboboxProps={{ withinPortal: true }}
      maxDropdownHeight={240}
      styles={{ inputField: { minWidth: 24 } }} // of the search, which would take a line of its own
    />
  )
}
