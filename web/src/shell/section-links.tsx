import { useContext } from 'react'
import { Link, useLocation } from 'wouter'
import { MenusContext } from './menus'
import { useWaitingCount } from './waiting-count'
import { PreloadContext } from './navigation'
import classes from './section-links.module.css'
import { sectionLinksText } from '../text/shell'

/** The navigation: a column beside the page, or a row at the bottom on a phone. */
export function SectionLinks({ row = false }: { row?: boolean }) {
  const [path] = useLocation()
  const waiting = useWaitingCount()
  const preload = useContext(PreloadContext)
  const { navigation } = useContext(MenusContext)
  return (
    <nav aria-label={sectionLinksText.main} className={row ? classes.row : classes.column}>
      {navigation.map(({ path: to, title, icon: Icon }) => {
        const within = path === to || path.startsWith(`${to}/`)
        const fetchCode = () => void preload(to === '/settings' ? '/settings/profile' : to)?.catch(() => undefined)
        return (
          <Link
            key={to}
            href={to}
            className={classes.link}
            aria-current={path === to ? 'page' : within ? 'true' : undefined}
            onMouseEnter={fetchCode}
            onFocus={fetchCode}
          >
            {Icon && <Icon size={row ? 22 : 19} stroke={1.7} aria-hidden />}
            <span>{title}</span>
            {to === '/runs' && waiting ? (
              <span className={classes.count} title={sectionLinksText.waitingForInput(waiting)}>
                {waiting > 99 ? '99+' : waiting}
                <span className={classes.hidden}> {sectionLinksText.waitingForInput2}</span>
              </span>
            ) : null}
          </Link>
        )
      })}
    </nav>
  )
}
