import { Button, Menu } from '@mantine/core'
import { IconCheck, IconSelector } from '@tabler/icons-react'
import { useOrganizationFilter } from './organization'
import classes from './header.module.css'
import { organizationMenuText } from '../text/shell'

/** Filters listings by organization. Hidden if there is only a personal workspace. */
export function OrganizationMenu() {
  const { id, organizations, choose } = useOrganizationFilter()
  if (organizations.length < 2) return null
  const chosen = organizations.find((one) => one.id === id)
  const name = chosen?.name ?? organizationMenuText.allOrganizations
  const entries = [{ id: undefined, name: organizationMenuText.allOrganizations }, ...organizations]
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="sm"
          className={classes.filter}
          rightSection={<IconSelector size={16} aria-hidden />}
          aria-label={organizationMenuText.organization(name)}
        >
          {name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{organizationMenuText.showOnly}</Menu.Label>
        {entries.map((one) => (
          <Menu.RadioItem
            key={one.id ?? 'all'}
            value={one.id ?? ''}
            checked={one.id === id}
            onChange={() => choose(one.id)}
            checkIcon={<IconCheck size={16} aria-hidden />}
            closeMenuOnClick
          >
            {one.name}
          </Menu.RadioItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
