import { useEffect, useEffectEvent } from 'react'
import { choose, confirm } from '../../parts'
import { guardLeaving } from '../../shell/leaving'
import { guardText } from '../../text/editor'

const question = {
  title: guardText.leaveWithoutSaving,
  text: guardText.yourChangesAreKeptInThis,
  action: guardText.leave,
}

/**
 * While `dirty`, asks before the page is left: by a link, the back button, or closing the tab. `save` is offered too,
 * and reports whether everything is saved.
 */
export function useGuard(dirty: boolean, save?: () => Promise<boolean>): void {
  const saveNow = useEffectEvent(() => save?.() ?? Promise.resolve(false))
  const savable = save !== undefined
  useEffect(() => {
    if (!dirty) return
    const release = guardLeaving(async () => {
      if (!savable) return confirm(question)
      const answer = await choose({
        ...question,
        title: guardText.unsavedChanges,
        action: guardText.saveAndLeave,
        other: guardText.leave,
      })
      return answer === 'action' ? saveNow() : answer === 'other'
    })
    const close = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', close)
    return () => {
      release()
      removeEventListener('beforeunload', close)
    }
  }, [dirty, savable])
}
