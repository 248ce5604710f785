import { flushSync } from 'react-dom'

/** Makes a field that applies its text on blur, such as the key of a row, apply it now. The focus stays. */
export function applyFocused(): void {
  const field = document.activeElement
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) || !field.closest('#editor-panel'))
    return
  flushSync(() => field.blur())
  if (field.isConnected) field.focus({ preventScroll: true })
}
