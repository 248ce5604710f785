import { flushSync } from 'react-dom'

/**
 * Applies an update and focuses an element that it adds, within the same event where possible, so that no typed
 * character is lost. An element that appears later, such as in a panel that is still loading, is awaited for half a
 * second. `focused` is called once the element has the focus.
 */
export function focusAfter<T extends HTMLElement>(
  update: () => void,
  find: () => T | null | undefined,
  focused?: (element: T) => void,
): void {
  flushSync(update)
  flushSync(() => {}) // renders the updates of its effects
  let frames = 0
  const focus = () => {
    const element = find()
    element?.focus({ preventScroll: true })
    if (element && document.activeElement === element) focused?.(element)
    else if (frames++ < 30) requestAnimationFrame(focus)
  }
  focus()
}
