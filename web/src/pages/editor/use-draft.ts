import { useEffect, useState } from 'react'
import { now } from '../../api/clock'
import { type Draft, dropDraft, keepDraft, readDraft } from './draft'
import type { Editor } from './use-editor'
import { stateText } from '../../text/editor'

/** Stores unsaved changes in this browser, and returns those of an earlier visit. */
export function useDraft(editor: Editor, key: string) {
  const [found, setFound] = useState<Draft | undefined>(() =>
    editor.readOnly ? undefined : readDraft(localStorage, key, editor.state.saved),
  )
  const { doc, dirty, readOnly } = editor
  const { version } = editor.state
  useEffect(() => {
    if (readOnly) return
    if (!dirty) {
      if (!found) dropDraft(localStorage, key)
      return
    }
    const keep = () => keepDraft(localStorage, key, { ...doc, version, at: now() })
    const timer = setTimeout(keep, 800)
    // There is no other reliable event when a page is closed or crashes.
    const hide = () => {
      if (document.visibilityState === 'hidden') keep()
    }
    document.addEventListener('visibilitychange', hide)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', hide)
    }
  }, [doc, dirty, readOnly, version, key, found])
  return {
    found,
    take() {
      if (found) editor.replace(stateText.restoreChanges, { map: found.map, variables: found.variables })
      setFound(undefined)
    },
    drop() {
      dropDraft(localStorage, key)
      setFound(undefined)
    },
  }
}
