import { Suspense } from 'react'
import { Redirect, Route, Router, Switch } from 'wouter'
import { openRoutes, routes } from './routes'
import { ErrorBoundary } from './shell/error-boundary'
import { Gate } from './shell/gate'
import { aroundNavigation } from './shell/navigation'
import { NotFound } from './shell/not-found'
import { PageSkeleton } from './shell/page-skeleton'
import { Shell } from './shell/shell'

/** The whole dashboard: pages for everybody, and behind the gate those of the signed-in user. */
export function App() {
  return (
    <Router aroundNav={aroundNavigation}>
      <Suspense fallback={null}>
        <Switch>
          {openRoutes.map(({ path, page }) => <Route key={path} path={path} component={page} />)}
          <Route><Gate><Shell><Pages /></Shell></Gate></Route>
        </Switch>
      </Suspense>
    </Router>
  )
}

function Pages() {
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Switch>
        <Route path="/"><Redirect to="/blueprints" replace /></Route>
        <Route path="/settings"><Redirect to="/settings/profile" replace /></Route>
        {routes.map(({ path, page: Page }) => (
          <Route key={path} path={path}>
            <ErrorBoundary key={path} within><Page /></ErrorBoundary>
          </Route>
        ))}
        <Route><NotFound /></Route>
      </Switch>
    </Suspense>
  )
}
