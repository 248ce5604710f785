import { flushSync } from 'react-dom'

/**
 * Updates the page and focuses what the update brings, in the same event where possible: what a quick user types next
 * goes there, after `focused`. What takes longer to appear, such as a panel that loads, is awaited for half a second.
 */
export function focusAfter<T extends HTMLElement>(
  update: () => void,
  find: () => T | null | undefined,
  focused?: (element: T) => void,
): void {
  flushSync(update)
  flushSync(() => {}) // what effects of the update have brought
  let frames = 0
  const focus = () => {
    const element = find()
    element?.focus({ preventScroll: true })
    if (element && document.activeElement === element) focused?.(element)
    else if (frames++ < 30) requestAnimationFrame(focus)
  }
  focus()
}
