import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
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
  const [path] = useLocation()
  // The editor has its frame before its page is loaded, so that nothing moves.
  const editor = /^\/blueprints\/[^/]+\/edit$/.test(path)
  return (
    <OrganizationProvider>
      <a href="#main" className={classes.skip} onClick={skip}>
        {shellText.skipToContent}
      </a>
      <header className={classes.header}>
        <Header />
      </header>
      <div className={classes.navbar}>
        <SectionLinks />
      </div>
      <main id="main" tabIndex={-1} className={classes.main} data-editor={editor || undefined}>
        <AwayBanner />
        <div className={classes.page}>{children}</div>
      </main>
      <div className={classes.footer} data-footer>
        <SectionLinks row />
      </div>
    </OrganizationProvider>
  )
}

// The address stays as it is: a fragment would be one more step back in the history.
function skip(event: React.MouseEvent) {
  event.preventDefault()
  document.getElementById('main')?.focus()
}
