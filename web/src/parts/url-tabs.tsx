import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import classes from './url-tabs.module.css'

/** A tab: where it leads, its word, and perhaps how many things are behind it. */
export type UrlTab = {
  href: string
  title: string
  icon?: ReactNode
  count?: number
  /** Whether it is the chosen one; by the path unless told. */ current?: boolean
}

type Props = {
  tabs: UrlTab[]
  label: string
  /** The tabs are pages of their own, each with its h1, which takes the focus. */
  pages?: boolean
}

/** Tabs whose choice is the path. They are links, so reload, back and a new browser tab work. */
export function UrlTabs({ tabs, label, pages = false }: Props) {
  const [path] = useLocation()
  const row = useRef<HTMLElement>(null)
  // On a phone the row may be wider than the view: the present one is moved into it, and nothing else.
  useEffect(() => {
    const tab = row.current?.querySelector<HTMLElement>('[aria-current]')
    if (row.current && tab)
      row.current.scrollLeft = tab.offsetLeft - row.current.offsetLeft - (row.current.clientWidth - tab.offsetWidth) / 2
  }, [path])
  return (
    <nav aria-label={label} className={classes.tabs} ref={row}>
      {tabs.map(({ href, title, icon, count, current = path === href }) => (
        <Link
          key={href}
          href={href}
          state={pages ? null : { keepFocus: true }}
          className={classes.tab}
          aria-current={current ? 'page' : undefined}
        >
          {icon}
          {title}
          {count !== undefined && <span className={classes.count}>{count.toLocaleString('en')}</span>}
        </Link>
      ))}
    </nav>
  )
}
