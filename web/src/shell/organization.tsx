import { useLocalStorage } from '@mantine/hooks'
import { createContext, type ReactNode, use, useMemo } from 'react'
import { type Organization, useSignedIn } from '../api/session'

/** The filter by organization in the header, which listings may apply. */
export type OrganizationFilter = {
  /** The selected organization's id; undefined: all. */
  id: string | undefined
  /** The choices, the personal workspace first. */
  organizations: Organization[]
  /** Selects one; undefined: all. Stored in this browser. */
  choose: (id: string | undefined) => void
}

const Context = createContext<OrganizationFilter | null>(null)

/** Provides the selection to all pages. */
export function OrganizationProvider({ children }: { children: ReactNode }) {
  const { organizations } = useSignedIn()
  const [kept, keep] = useLocalStorage({
    key: 'blueprintd-organization',
    defaultValue: '',
    getInitialValueInEffect: false,
  })
  const filter = useMemo(() => {
    const sorted = [...organizations].sort(
      (a, b) => Number(b.personal) - Number(a.personal) || a.name.localeCompare(b.name),
    )
    const id = sorted.some((one) => one.id === kept) ? kept : undefined // not an organization that the user left
    return { id, organizations: sorted, choose: (next: string | undefined) => keep(next ?? '') }
  }, [organizations, kept, keep])
  return <Context value={filter}>{children}</Context>
}

/** The filter by organization; only inside the shell. */
export function useOrganizationFilter(): OrganizationFilter {
  const filter = use(Context)
  if (!filter) throw new Error('useOrganizationFilter is for pages inside the shell')
  return filter
}
