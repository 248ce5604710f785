import type { ComponentType } from 'react'
import { later } from './parts/later'
import { PageSkeleton } from './shell/page-skeleton'

type Loader = () => Promise<{ default: ComponentType }>

/** A page: its path (a wouter pattern), and how its code is loaded. */
export type Route = { path: string; load: () => Promise<void>; page: ComponentType }

function route(path: string, load: Loader, whileLoading: ComponentType = PageSkeleton): Route {
  const { Component, load: loadCode } = later(load, whileLoading)
  return { path, load: loadCode, page: Component }
}

const nothing = () => null

/** The pages without a sign-in. */
export const openRoutes: Route[] = [
  route('/signin', () => import('./pages/sign-in/sign-in-page'), nothing),
  route('/setup', () => import('./pages/sign-in/setup-page'), nothing),
]

/** The page that a signed-out user sees instead of any other. */
export const signInRoute = openRoutes[0]!

const blueprint = () => import('./pages/blueprints/blueprint-page')

/** Pages within the shell; the first that matches is shown. */
export const routes: Route[] = [
  route('/blueprints', () => import('./pages/blueprints/blueprints-page')),
  route('/blueprints/new', () => import('./pages/blueprints/new-blueprint-page')),
  route('/blueprints/:id/edit', () => import('./pages/editor/editor-page')),
  route('/blueprints/:id/:tab?', blueprint),
  route('/runs', () => import('./pages/runs/runs-page')),
  route('/runs/:id', () => import('./pages/runs/run-page')),
  route('/runs/:id/compare', () => import('./pages/runs/compare-page')),
  route('/triggers', () => import('./pages/triggers/triggers-page')),
  route('/triggers/new', () => import('./pages/triggers/new-trigger-page')),
  route('/triggers/:id/edit', () => import('./pages/triggers/edit-trigger-page')),
  route('/triggers/:id', () => import('./pages/triggers/trigger-page')),
  route('/connections', () => import('./pages/connections/connections-page')),
  route('/connections/:id', () => import('./pages/connections/connection-page')),
  route('/settings/profile', () => import('./pages/settings/profile-page')),
  route('/settings/keys', () => import('./pages/settings/keys-page')),
  route('/settings/organizations', () => import('./pages/settings/organizations-page')),
  route('/settings/organizations/:id', () => import('./pages/settings/organization-page')),
  route('/settings/grants', () => import('./pages/settings/grants-page')),
  route('/settings/tools', () => import('./pages/settings/tools-page')),
  route('/settings/audit', () => import('./pages/settings/audit-page')),
  route('/settings/status', () => import('./pages/settings/status-page')),
  route('/settings/limits', () => import('./pages/settings/limits-page')),
]
