/**
 * The control that a dialog gives the focus back to: the one that has it now, and for an item of a menu, which will be
 * gone by then, the button of the menu.
 */
export function openerOf(element: Element | null): HTMLElement | null {
  const button = element?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return button ? document.getElementById(button) : (element as HTMLElement | null)
}

/** Gives the focus back to an opener when a dialog has closed (it may still be fading), unless it went elsewhere. */
export function giveBack(opener: HTMLElement | null): void {
  setTimeout(() => {
    const now = document.activeElement
    if (opener?.isConnected && (!now || now === document.body || now.closest('[role=dialog]')))
      opener.focus({ preventScroll: true })
  }, 30)
}
