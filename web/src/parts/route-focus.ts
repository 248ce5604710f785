import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'

/** Options that our own navigations use: keepFocus leaves focus and scroll where they are (tabs, filters). */
export type NavigationState = { keepFocus?: boolean } | null

let waiting = false

/**
 * After a navigation the focus goes to the page's h1 and the view to the top, as a browser does with a new page. Tabs
 * and filters say {keepFocus: true} in the navigation's state and are left alone; so is going back, where the browser
 * restores the view itself.
 */
export function useRouteFocus(): void {
  const [path] = useLocation()
  const before = useRef(path)
  const back = useRef(false)
  useEffect(() => {
    const note = () => {
      back.current = true
    }
    addEventListener('popstate', note)
    return () => removeEventListener('popstate', note)
  }, [])
  useEffect(() => {
    if (before.current === path) return
    before.current = path
    const returned = back.current
    back.current = false
    if ((history.state as NavigationState)?.keepFocus) return
    if (!returned) scrollTo(0, 0)
    expectHeading()
    focusHeading(document.querySelector<HTMLElement>('#main h1'))
  }, [path])
}

/** Lets the next page that shows its heading give it the focus: after signing in, when the form that had it is gone. */
export function expectHeading(): void {
  waiting = true
}

/** Gives the focus to a heading that has just appeared, if a navigation waits for one. PageHeader calls it. */
export function focusHeading(heading: HTMLElement | null): void {
  // While the next page comes, the old one may still be there, hidden.
  if (!waiting || !heading || heading.getClientRects().length === 0) return
  waiting = false
  heading.focus({ preventScroll: true })
}
