import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import classes from './url-tabs.module.css'

/** A tab: its link, its label, and an optional count. */
export type UrlTab = {
  href: string
  title: string
  icon?: ReactNode
  count?: number
  /** Whether it is the selected one; by default, if its path matches. */ current?: boolean
}

type Props = {
  tabs: UrlTab[]
  label: string
  /** The tabs are separate pages, each with its own h1, which gets the focus. */
  pages?: boolean
}

/** Tabs selected by the path. They are links, so reload, back and new browser tabs work. */
export function UrlTabs({ tabs, label, pages = false }: Props) {
  const [path] = useLocation()
  const row = useRef<HTMLElement>(null)
  // On a phone the row may be wider than the view: only the selected tab is scrolled into view.
  useEffect(() => {
    const tab = row.current?.querySelector<HTMLElement>('[aria-current]')
    if (row.current && tab)
      row.current.scrollLeft = tab.offsetLeft - row.current.offsetLeft - (row.current.clientWidth - tab.offsetWidth) / 2
  }, [path, tabs.length])
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
