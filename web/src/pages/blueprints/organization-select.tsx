import { NativeSelect } from '@mantine/core'
import { useOrganizationFilter } from '../../shell/organization'
import { organizationSelectText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Props = { value: string; onChange: (id: string) => void }

/** Where a new blueprint shall live; not shown when there is one place only. */
export function OrganizationSelect({ value, onChange }: Props) {
  const { organizations } = useOrganizationFilter()
  if (organizations.length < 2) return null
  return (
    <NativeSelect
      label={commonText.owner}
      description={organizationSelectText.adminsOfAnOrganizationManage}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={organizations.map(({ id, name, personal }) => ({
        value: id,
        label: personal ? organizationSelectText.personal(name) : name,
      }))}
    />
  )
}

/** The organization to begin with: the one that is filtered by, else the personal workspace. */
export function useFirstOrganization(): string {
  const { id, organizations } = useOrganizationFilter()
  return id ?? organizations.find(({ personal }) => personal)?.id ?? organizations[0]?.id ?? ''
}
