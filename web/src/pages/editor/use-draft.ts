import { useEffect, useState } from 'react'
import { now } from '../../api/clock'
import { type Draft, dropDraft, keepDraft, readDraft } from './draft'
import type { Editor } from './use-editor'

/** Keeps what is not saved in this browser, and gives what an earlier visit left there. */
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
    // A page that is closed or crashes gives no other sign that can be relied on.
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
      if (found) editor.replace('restoring what was not saved', { map: found.map, variables: found.variables })
      setFound(undefined)
    },
    drop() {
      dropDraft(localStorage, key)
      setFound(undefined)
    },
  }
}
