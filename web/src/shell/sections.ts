import { IconBolt, IconPlugConnected, IconSettings, IconSitemap, IconTimeline } from '@tabler/icons-react'
import { commonText } from '../text/common'

/** The entries of the navigation, in order. */
export const sections = [
  { path: '/blueprints', title: commonText.blueprints, icon: IconSitemap },
  { path: '/runs', title: commonText.runs, icon: IconTimeline },
  { path: '/triggers', title: commonText.triggers, icon: IconBolt },
  { path: '/connections', title: commonText.connections, icon: IconPlugConnected },
  { path: '/settings', title: commonText.settings, icon: IconSettings },
] as const
