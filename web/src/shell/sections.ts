import { IconBolt, IconPlugConnected, IconSettings, IconSitemap, IconTimeline } from '@tabler/icons-react'

/** The entries of the navigation, in order. */
export const sections = [
  { path: '/blueprints', title: 'Blueprints', icon: IconSitemap },
  { path: '/runs', title: 'Runs', icon: IconTimeline },
  { path: '/triggers', title: 'Triggers', icon: IconBolt },
  { path: '/connections', title: 'Connections', icon: IconPlugConnected },
  { path: '/settings', title: 'Settings', icon: IconSettings },
] as const
