import { spotAt } from '../forms/completion'
import { type Step, writePath } from '../forms/path'

/** The fields of a form that a path can be inserted into. */
export const TARGETS = 'textarea[data-language]:not([readonly])'

/**
 * Inserts a path at the caret of a field: as a placeholder into a text, bare into an expression, into code, or where a
 * placeholder is being written.
 */
export function insertPath(field: HTMLTextAreaElement, path: readonly Step[]): void {
  const { value, selectionStart: from, selectionEnd: to } = field
  const bare = field.dataset.language !== 'template' || spotAt(value, from, 'template') !== undefined
  const text = bare ? writePath(path) : `{{${writePath(path)}}}`
  // React only notices a value that was set behind its back.
  const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!.set!
  set.call(field, value.slice(0, from) + text + value.slice(to))
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.focus()
  field.setSelectionRange(from + text.length, from + text.length)
}
