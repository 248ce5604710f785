import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'

/** Options of our navigations: keepFocus keeps focus and scroll position (tabs, filters). */
export type NavigationState = { keepFocus?: boolean } | null

let waiting = false

/**
 * After a navigation, focuses the page's h1, or its field marked with data-first, and scrolls to the top, as a browser
 * does with a new page. Navigations with {keepFocus: true} in their state (tabs and filters) are exempt, and so is
 * going back, where the browser restores the view itself.
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

/** Makes the next heading that appears get the focus: after signing in, when the focused form is unmounted. */
export function expectHeading(): void {
  waiting = true
}

/** Focuses a heading that has just appeared, if a navigation waits for one. PageHeader calls it. */
export function focusHeading(heading: HTMLElement | null): void {
  // While the next page loads, the old one may still be mounted, but hidden.
  if (!waiting || !heading || heading.getClientRects().length === 0) return
  waiting = false
  // A form that is the only purpose of its page has the focus at once; on a touch screen, a keyboard would cover it.
  const first = matchMedia('(pointer: fine)').matches ? document.querySelector<HTMLElement>('#main [data-first]') : null
  ;(first ?? heading).focus({ preventScroll: true })
}
