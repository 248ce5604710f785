import { Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { focusHeading } from './route-focus'
import classes from './page-header.module.css'
import { pageHeaderText } from '../text/parts'

/** A breadcrumb: its title and, except for the last, its link. */
export type Crumb = { title: string; href: string }

type Props = {
  /** The h1, and the document's title unless `documentTitle` is given. */
  title: string
  /** The document's title if it should say more: `Hello, runs`. */
  documentTitle?: string
  /** The pages above this one, outermost first; a phone leaves out the first, which its navigation shows. */
  breadcrumbs?: Crumb[]
  /** One or two sentences below the title. */
  text?: ReactNode
  /** Replaces the visible title, such as a field that edits it; the h1 is then only for screen readers. */
  instead?: ReactNode
  /** Shown right of the title: a status. */
  badge?: ReactNode
  /** Buttons at the right; below on a phone. */
  actions?: ReactNode
  /** Everything in one line, for pages that need the space; without breadcrumbs on a phone. */
  compact?: boolean
}

/** The header of every page, one row high. It sets the document's title and gets the focus after a navigation. */
export function PageHeader({ title, documentTitle, breadcrumbs, text, instead, badge, actions, compact }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => focusHeading(heading.current), [])
  return (
    <>
      <header className={classes.header} data-compact={compact || undefined} data-text={text ? true : undefined}>
        <title>{pageHeaderText.blueprintd(documentTitle ?? title)}</title>
        <div className={classes.row}>
          <div className={classes.title}>
            {breadcrumbs && breadcrumbs.length > 0 && (
              <nav aria-label={pageHeaderText.breadcrumbs} className={classes.crumbs}>
                <ol>
                  {breadcrumbs.map(({ title: name, href }) => (
                    <li key={href}>
                      <Link href={href}>{name}</Link>
                    </li>
                  ))}
                </ol>
              </nav>
            )}
            <Title order={1} ref={heading} tabIndex={-1} className={instead ? classes.unseen : undefined}>
              {title}
            </Title>
            {instead}
            {badge}
          </div>
          {actions && (
            <Group gap="xs" className={classes.actions}>
              {actions}
            </Group>
          )}
        </div>
      </header>
      {text && (
        <Text c="dimmed" size="sm" maw={720} mb={18} component="div">
          {text}
        </Text>
      )}
    </>
  )
}
