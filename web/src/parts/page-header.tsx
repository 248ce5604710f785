import { Anchor, Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { focusHeading } from './route-focus'
import classes from './page-header.module.css'
import { pageHeaderText } from '../text/parts'

/** A step of the way to a page: its title and, but for the last, where it leads. */
export type Crumb = { title: string; href: string }

type Props = {
  /** The h1, and the document's title unless `documentTitle` is given. */
  title: string
  /** The title of the browser's tab where it should say more: `Hello, runs`. */
  documentTitle?: string
  /** The pages above this one, outermost first. */
  breadcrumbs?: Crumb[]
  /** One or two sentences below the title. */
  text?: ReactNode
  /** Stands in the place of the title, as a field that edits it; the h1 is then only for readers. */
  instead?: ReactNode
  /** Stands right of the title: a status. */
  badge?: ReactNode
  /** Buttons at the right; on a phone below. */
  actions?: ReactNode
  /** All in one line, for pages that need the room; on a phone without the breadcrumbs. */
  compact?: boolean
}

/** The head of every page. It sets the document's title and takes the focus after a navigation. */
export function PageHeader({ title, documentTitle, breadcrumbs, text, instead, badge, actions, compact }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => focusHeading(heading.current), [])
  return (
    <header className={classes.header} data-compact={compact || undefined}>
      <title>{pageHeaderText.blueprintd(documentTitle ?? title)}</title>
      {breadcrumbs && breadcrumbs.length > 0 && (
        <nav aria-label={pageHeaderText.breadcrumbs} className={classes.crumbs}>
          <ol>
            {breadcrumbs.map(({ title: name, href }) => (
              <li key={href}>
                <Anchor component={Link} href={href} size="sm">
                  {name}
                </Anchor>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div className={classes.row}>
        <div className={classes.title}>
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
      {text && (
        <Text c="dimmed" size="sm" maw={720} component="div">
          {text}
        </Text>
      )}
    </header>
  )
}
