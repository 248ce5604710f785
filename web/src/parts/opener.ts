/**
 * The control to which a dialog returns the focus: the focused one, or for a menu item, which will be unmounted by
 * then, the button of the menu.
 */
export function openerOf(element: Element | null): HTMLElement | null {
  const button = element?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return button ? document.getElementById(button) : (element as HTMLElement | null)
}

/**
 * Returns the focus to an opener after a dialog has closed (it may still be fading), unless the focus has moved
 * elsewhere.
 */
export function giveBack(opener: HTMLElement | null): void {
  if (!opener) return
  const page = opener.ownerDocument // the global document may be gone when the timer fires
  setTimeout(() => {
    const now = page.activeElement
    if (opener.isConnected && (!now || now === page.body || now.closest('[role=dialog]')))
      opener.focus({ preventScroll: true })
  }, 30)
}
