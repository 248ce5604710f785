import { IconBolt, IconPlugConnected, IconSettings, IconSitemap, IconTimeline } from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { later } from './parts/later'
import type { Entry, Menus } from './shell/menus'
import { PageSkeleton } from './shell/page-skeleton'
import { commonText } from './text/common'
import { routesText } from './text/shell'

type Loader = () => Promise<{ default: ComponentType }>

/** A page: its path (a wouter pattern), how its code is loaded, and its entry in a menu. */
export type Route = {
  path: string
  load: () => Promise<void>
  page: ComponentType
  entry?: (Entry & { menu: keyof Menus }) | undefined
}

// The entry for a page in one of the menus. Those of the navigation have icons.
type Place = Omit<Entry, 'path' | 'icon'> &
  ({ menu: 'navigation'; icon: NonNullable<Entry['icon']> } | { menu: 'settings'; icon?: never })

type Options = (Place | { menu?: never; title?: never }) & { whileLoading?: ComponentType }

function route(path: string, load: Loader, { whileLoading = PageSkeleton, ...place }: Options = {}): Route {
  const { Component, load: loadCode } = later(load, whileLoading)
  return { path, load: loadCode, page: Component, entry: place.menu && { path, ...place } }
}

const nothing = () => null

/** The pages without a sign-in. */
export const openRoutes: Route[] = [
  route('/signin', () => import('./pages/sign-in/sign-in-page'), { whileLoading: nothing }),
  route('/setup', () => import('./pages/sign-in/setup-page'), { whileLoading: nothing }),
]

/** The page that a signed-out user sees instead of any other. */
export const signInRoute = openRoutes[0]!

const blueprint = () => import('./pages/blueprints/blueprint-page')

/**
 * Pages within the shell; the first that matches is shown. One with an entry is in the navigation, or a tab of the
 * settings, in this order.
 */
export const routes: Route[] = [
  route('/blueprints', () => import('./pages/blueprints/blueprints-page'), {
    menu: 'navigation',
    title: commonText.blueprints,
    icon: IconSitemap,
  }),
  route('/blueprints/new', () => import('./pages/blueprints/new-blueprint-page')),
  route('/blueprints/:id/edit', () => import('./pages/editor/editor-page')),
  route('/blueprints/:id/:tab?', blueprint),
  route('/runs', () => import('./pages/runs/runs-page'), {
    menu: 'navigation',
    title: commonText.runs,
    icon: IconTimeline,
  }),
  route('/runs/:id', () => import('./pages/runs/run-page')),
  route('/runs/:id/compare', () => import('./pages/runs/compare-page')),
  route('/triggers', () => import('./pages/triggers/triggers-page'), {
    menu: 'navigation',
    title: commonText.triggers,
    icon: IconBolt,
  }),
  route('/triggers/new', () => import('./pages/triggers/new-trigger-page')),
  route('/triggers/:id/edit', () => import('./pages/triggers/edit-trigger-page')),
  route('/triggers/:id', () => import('./pages/triggers/trigger-page')),
  route('/connections', () => import('./pages/connections/connections-page'), {
    menu: 'navigation',
    title: commonText.connections,
    icon: IconPlugConnected,
  }),
  route('/connections/:id', () => import('./pages/connections/connection-page')),
  route('/settings/profile', () => import('./pages/settings/profile-page'), {
    menu: 'settings',
    title: routesText.profile,
  }),
  route('/settings/keys', () => import('./pages/settings/keys-page'), { menu: 'settings', title: routesText.apiKeys }),
  route('/settings/organizations', () => import('./pages/settings/organizations-page'), {
    menu: 'settings',
    title: routesText.organizations,
  }),
  route('/settings/organizations/:id', () => import('./pages/settings/organization-page')),
  route('/settings/grants', () => import('./pages/settings/grants-page'), {
    menu: 'settings',
    title: routesText.grants,
  }),
  route('/settings/tools', () => import('./pages/settings/tools-page'), {
    menu: 'settings',
    title: routesText.mcpTools,
  }),
  route('/settings/audit', () => import('./pages/settings/audit-page'), {
    menu: 'settings',
    title: routesText.auditLog,
  }),
  route('/settings/limits', () => import('./pages/settings/limits-page'), {
    menu: 'settings',
    title: routesText.limits,
  }),
  route('/settings/status', () => import('./pages/settings/status-page'), {
    menu: 'settings',
    title: routesText.status,
    elsewhere: routesText.serverStatus,
    owners: true,
  }),
]

const entriesOf = (menu: keyof Menus) => routes.flatMap(({ entry }) => (entry?.menu === menu ? entry : []))

/** What leads to the pages. */
export const menus: Menus = {
  navigation: [...entriesOf('navigation'), { path: '/settings', title: commonText.settings, icon: IconSettings }],
  settings: entriesOf('settings'),
}
