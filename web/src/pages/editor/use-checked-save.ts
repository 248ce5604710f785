import { useLayoutEffect, useRef } from 'react'
import { applyFocused } from './apply-focused'
import { refuse } from './refuse'
import type { Editor } from './use-editor'
import type { Located, Validation } from './use-validation'
import { checkedSaveText } from '../../text/editor'

type Props = {
  editor: Editor
  /** The number of fields with an unapplied text. */
  pending: number
  validation: Validation
  save: () => Promise<boolean>
  /** Shows the field of an issue. */
  onGo: (issue: Located) => void
}

/** Saves, unless a field has an unapplied text: then it shows that field. Reports whether everything is saved. */
export function useCheckedSave({ editor, pending, validation, save, onGo }: Props): () => Promise<boolean> {
  const latest = useRef({ pending, validation })
  useLayoutEffect(() => {
    latest.current = { pending, validation }
  })
  return async () => {
    editor.checked()
    applyFocused()
    if (latest.current.pending === 0 || editor.readOnly) return save()
    const issue = latest.current.validation.issues.find((each) => each.unapplied)
    refuse(checkedSaveText.notSavedAFieldIsNot)
    if (issue) onGo(issue)
    return false
  }
}
