import { Stack, Text } from '@mantine/core'
import { type ReactNode, useContext } from 'react'
import { useLocation } from 'wouter'
import { useServerInfo } from '../../api/server-info'
import { PageHeader, UrlTabs } from '../../parts'
import type { Crumb } from '../../parts/page-header'
import { MenusContext } from '../../shell/menus'
import { settingsFrameText } from '../../text/settings'
import { commonText } from '../../text/common'

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
  const owner = useServerInfo().data?.mayOperate
  const tabs = useContext(MenusContext)
    .settings.filter(({ owners }) => owner || !owners)
    .map(({ path: href, title }) => ({ href, title, current: path === href || path.startsWith(`${href}/`) }))
  return (
    <>
      <PageHeader {...head} documentTitle={settingsFrameText.settings(head.title)} />
      <UrlTabs tabs={tabs} label={commonText.settings} pages />
      {text && (
        <Text c="dimmed" size="sm" maw={720} mb="md" component="div">
          {text}
        </Text>
      )}
      <Stack gap="xl">{children}</Stack>
    </>
  )
}
