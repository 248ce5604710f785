import { NativeSelect } from '@mantine/core'
import { useSignedIn } from '../../api/session'
import { FilterBar, SearchField } from '../../parts'
import { areas } from './audit-words'
import { manages } from './roles'
import { auditFiltersText } from '../../text/settings'

/** The filters of the log. */
export type Filters = { organization: string; area: string; via: string; who: string }

/** Chooses the log and filters the page. */
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
    <FilterBar
      label={auditFiltersText.filterTheAuditLog}
      search={
        <SearchField
          label={auditFiltersText.searchByNameActionOrId}
          value={filters.who}
          onSearch={(who) => onChange({ who })}
        />
      }
      set={[filters.organization, filters.area, filters.via].filter(Boolean).length}
    >
      <NativeSelect
        aria-label={auditFiltersText.log}
        data={[
          { value: '', label: auditFiltersText.yourActions },
          ...readable.map((one) => ({
            value: one.id,
            label: one.personal ? auditFiltersText.yourPersonalWorkspace : auditFiltersText.everyoneIn(one.name),
          })),
        ]}
        value={filters.organization}
        onChange={(event) => onChange({ organization: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label={auditFiltersText.area}
        data={[{ value: '', label: auditFiltersText.allAreas }, ...areas]}
        value={filters.area}
        onChange={(event) => onChange({ area: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label={auditFiltersText.source}
        data={[
          { value: '', label: auditFiltersText.anySource },
          { value: 'dashboard', label: auditFiltersText.dashboard },
          { value: 'api', label: auditFiltersText.api },
          { value: 'cli', label: auditFiltersText.commandLine },
          { value: 'link', label: auditFiltersText.approvalLink },
        ]}
        value={filters.via}
        onChange={(event) => onChange({ via: event.currentTarget.value })}
      />
    </FilterBar>
  )
}
