import { Group } from '@mantine/core'
import { useLayoutEffect, useRef } from 'react'
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
  const end = useEndOfHeader()
  return (
    <div className={classes.bar}>
      <Link href="/blueprints" className={classes.brand} aria-label={headerText.blueprintdGoToBlueprints}>
        <Mark />
        <span className={classes.name}>{headerText.blueprintd}</span>
      </Link>
      <OrganizationMenu />
      <Group gap={4} ml="auto" wrap="nowrap" ref={end}>
        <ServerBadges />
        <PaletteButton />
        <SchemeToggle />
        <AccountMenu />
      </Group>
    </div>
  )
}

// The width of the right end, for the editor, whose row covers the rest of the header.
function useEndOfHeader() {
  const end = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = end.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      const width = element.getBoundingClientRect().width
      document.documentElement.style.setProperty('--app-header-end', `${Math.ceil(width) + 28}px`)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return end
}
