import { NativeSelect } from '@mantine/core'
import { useOrganizationFilter } from '../../shell/organization'
import { organizationSelectText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Props = { value: string; onChange: (id: string) => void }

/** The organization of a new blueprint; hidden if there is only one. */
export function OrganizationSelect({ value, onChange }: Props) {
  const { organizations } = useOrganizationFilter()
  if (organizations.length < 2) return null
  return (
    <NativeSelect
      label={commonText.owner}
      inputWrapperOrder={['label', 'input', 'description']}
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

/** The initial organization: that of the filter, else the personal workspace. */
export function useFirstOrganization(): string {
  const { id, organizations } = useOrganizationFilter()
  return id ?? organizations.find(({ personal }) => personal)?.id ?? organizations[0]?.id ?? ''
}
