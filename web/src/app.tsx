import { Redirect, Route, Router, Switch } from 'wouter'
import { menus, openRoutes, routes, signInRoute } from './routes'
import { ErrorBoundary } from './shell/error-boundary'
import { Gate } from './shell/gate'
import { MenusContext } from './shell/menus'
import { navigationAmong, PreloadContext } from './shell/navigation'
import { NotFound } from './shell/not-found'
import { Shell } from './shell/shell'

const { preload, aroundNav } = navigationAmong(routes)
void preload(location.pathname)?.catch(() => undefined) // beside the call for the session

/** The whole dashboard: the public pages, and inside the gate those of the signed-in user. */
export function App() {
  return (
    <Router aroundNav={aroundNav}>
      <Switch>
        {openRoutes.map(({ path, page }) => (
          <Route key={path} path={path} component={page} />
        ))}
        <Route>
          <Gate signIn={signInRoute.page}>
            <PreloadContext value={preload}>
              <MenusContext value={menus}>
                <Shell>
                  <Pages />
                </Shell>
              </MenusContext>
            </PreloadContext>
          </Gate>
        </Route>
      </Switch>
    </Router>
  )
}

function Pages() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/blueprints" replace />
      </Route>
      <Route path="/settings">
        <Redirect to="/settings/profile" replace />
      </Route>
      {routes.map(({ path, page: Page }) => (
        <Route key={path} path={path}>
          <ErrorBoundary key={path} within>
            <Page />
          </ErrorBoundary>
        </Route>
      ))}
      <Route>
        <NotFound />
      </Route>
    </Switch>
  )
}
