import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { useServerInfo } from '../../api/server-info'
import { PageHeader, UrlTabs } from '../../parts'
import type { Crumb } from '../../parts/page-header'
import { settingsFrameText } from '../../text/settings'
import { commonText } from '../../text/common'

const tabs = [
  { href: '/settings/profile', title: settingsFrameText.profile },
  { href: '/settings/keys', title: settingsFrameText.apiKeys },
  { href: '/settings/organizations', title: settingsFrameText.organizations },
  { href: '/settings/grants', title: settingsFrameText.grants },
  { href: '/settings/tools', title: settingsFrameText.mcpTools },
  { href: '/settings/audit', title: settingsFrameText.auditLog },
  { href: '/settings/limits', title: settingsFrameText.limits },
]
const ownersTabs = [...tabs, { href: '/settings/status', title: settingsFrameText.status }]

type Props = {
  title: string
  text?: ReactNode
  badge?: ReactNode
  actions?: ReactNode
  breadcrumbs?: Crumb[]
  children: ReactNode
}

/** The frame of every settings page: the page header, and the navigation between them. */
export function SettingsFrame({ children, text, ...head }: Props) {
  const [path] = useLocation()
  const shown = useServerInfo().data?.mayOperate ? ownersTabs : tabs
  const marked = shown.map((tab) => ({ ...tab, current: path === tab.href || path.startsWith(`${tab.href}/`) }))
  return (
    <>
      <PageHeader {...head} documentTitle={settingsFrameText.settings(head.title)} />
      <UrlTabs tabs={marked} label={commonText.settings} pages />
      {text && (
        <Text c="dimmed" size="sm" maw={720} mb="md" component="div">
          {text}
        </Text>
      )}
      <Stack gap="xl">{children}</Stack>
    </>
  )
}
