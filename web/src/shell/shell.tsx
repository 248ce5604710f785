import { AppShell } from '@mantine/core'
import type { ReactNode } from 'react'
import { AwayBanner } from './away-banner'
import { Header } from './header'
import { OrganizationProvider } from './organization'
import { useRouteFocus } from '../parts/route-focus'
import { SectionLinks } from './section-links'
import classes from './shell.module.css'
import { shellText } from '../text/shell'

/** The frame of every page: header, navigation, and the page in the middle. */
export function Shell({ children }: { children: ReactNode }) {
  useRouteFocus()
  return (
    <OrganizationProvider>
      <a href="#main" className={classes.skip} onClick={skip}>
        {shellText.skipToContent}
      </a>
      <AppShell
        header={{ height: 52 }}
        navbar={{ width: 212, breakpoint: 'sm', collapsed: { mobile: true } }}
        footer={{ height: 'calc(58px + env(safe-area-inset-bottom, 0px))' }}
        classNames={{ header: classes.header, navbar: classes.navbar, footer: classes.footer, main: classes.main }}
        transitionDuration={0}
      >
        <AppShell.Header>
          <Header />
        </AppShell.Header>
        <AppShell.Navbar component="div" visibleFrom="sm">
          <SectionLinks />
        </AppShell.Navbar>
        <AppShell.Main id="main" tabIndex={-1}>
          <AwayBanner />
          <div className={classes.page}>{children}</div>
        </AppShell.Main>
        <AppShell.Footer component="div" hiddenFrom="sm">
          <SectionLinks row />
        </AppShell.Footer>
      </AppShell>
    </OrganizationProvider>
  )
}

// The address stays as it is: a fragment would be one more step back in the history.
function skip(event: React.MouseEvent) {
  event.preventDefault()
  document.getElementById('main')?.focus()
}
