import { Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { PageHeader, UrlTabs } from '../../parts'
import type { Crumb } from '../../parts/page-header'

const tabs = [
  { href: '/settings/profile', title: 'Profile' },
  { href: '/settings/keys', title: 'API keys' },
  { href: '/settings/organizations', title: 'Organizations' },
  { href: '/settings/grants', title: 'Grants' },
  { href: '/settings/tools', title: 'MCP tools' },
  { href: '/settings/audit', title: 'Audit log' },
  { href: '/settings/limits', title: 'Limits' },
]

type Props = {
  title: string
  text?: ReactNode
  badge?: ReactNode
  actions?: ReactNode
  breadcrumbs?: Crumb[]
  children: ReactNode
}

/** The frame of every page of the settings: the way to the others, and the page's head. */
export function SettingsFrame({ children, ...head }: Props) {
  const [path] = useLocation()
  const marked = tabs.map((tab) => ({ ...tab, current: path === tab.href || path.startsWith(`${tab.href}/`) }))
  return (
    <>
      <UrlTabs tabs={marked} label="Settings" pages />
      <PageHeader {...head} documentTitle={`${head.title}, settings`} />
      <Stack gap="xl">{children}</Stack>
    </>
  )
}
