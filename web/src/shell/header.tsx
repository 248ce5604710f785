import { Group } from '@mantine/core'
import { Link } from 'wouter'
import { AccountMenu } from './account-menu'
import { Mark } from './mark'
import { OrganizationMenu } from './organization-menu'
import { PaletteButton } from './palette-button'
import { SchemeToggle } from './scheme-toggle'
import { ServerBadges } from './server-badges'
import classes from './header.module.css'
import { headerText } from '../text/shell'

/**
 * The bar at the top: the logo, the filter by organization, badges of a special server, the
 * command palette, the colour scheme, the account.
 */
export function Header() {
  return (
    <div className={classes.bar}>
      <Link href="/blueprints" className={classes.brand} aria-label={headerText.blueprintdGoToBlueprints}>
        <Mark />
        <span className={classes.name}>{headerText.blueprintd}</span>
      </Link>
      <OrganizationMenu />
      <Group gap={4} ml="auto" wrap="nowrap">
        <ServerBadges />
        <PaletteButton />
        <SchemeToggle />
        <AccountMenu />
      </Group>
    </div>
  )
}
