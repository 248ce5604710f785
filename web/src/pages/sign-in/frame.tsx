import type { ReactNode } from 'react'
import { AwayBanner } from '../../shell/away-banner'
import { Mark } from '../../shell/mark'
import { SchemeToggle } from '../../shell/scheme-toggle'
import classes from './sign-in.module.css'
import { frameText } from '../../text/sign-in'

/** The frame of pages without a session: the logo, a card, and optional help below it. */
export function Frame({ children, below }: { children: ReactNode; below?: ReactNode }) {
  return (
    <main className={classes.ground}>
      <AwayBanner />
      <div className={classes.frame}>
        <div className={classes.brand}>
          <Mark size={30} />
          <span>{frameText.blueprintd}</span>
          <span style={{ marginLeft: 'auto' }}>
            <SchemeToggle />
          </span>
        </div>
        <div className={classes.card}>{children}</div>
        {below}
      </div>
    </main>
  )
}
