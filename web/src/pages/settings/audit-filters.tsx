import { NativeSelect, TextInput } from '@mantine/core'
import { useSignedIn } from '../../api/session'
import classes from './audit.module.css'
import { areas } from './audit-words'
import { manages } from './roles'

/** What the page shows of the log. */
export type Filters = { organization: string; area: string; via: string; who: string }

/** Whose log is shown, and what of the page. */
export function AuditFilters({
  filters,
  onChange,
}: {
  filters: Filters
  onChange: (change: Partial<Filters>) => void
}) {
  const { organizations } = useSignedIn()
  const readable = organizations.filter((one) => manages(one.role))
  return (
    <div className={classes.filters}>
      <NativeSelect
        label="Log"
        data={[
          { value: '', label: 'What you did' },
          ...readable.map((one) => ({
            value: one.id,
            label: one.personal ? 'Your personal workspace' : `Everybody in ${one.name}`,
          })),
        ]}
        value={filters.organization}
        onChange={(event) => onChange({ organization: event.currentTarget.value })}
      />
      <NativeSelect
        label="About"
        data={[{ value: '', label: 'Everything' }, ...areas]}
        value={filters.area}
        onChange={(event) => onChange({ area: event.currentTarget.value })}
      />
      <NativeSelect
        label="Via"
        data={[
          { value: '', label: 'Any way' },
          { value: 'dashboard', label: 'Dashboard' },
          { value: 'api', label: 'API' },
          { value: 'cli', label: 'Command line' },
        ]}
        value={filters.via}
        onChange={(event) => onChange({ via: event.currentTarget.value })}
      />
      <TextInput
        label="Text"
        placeholder="Name, action or id"
        value={filters.who}
        maxLength={200}
        onChange={(event) => onChange({ who: event.currentTarget.value })}
      />
    </div>
  )
}
