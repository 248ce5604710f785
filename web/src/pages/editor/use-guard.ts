import { useEffect } from 'react'
import { confirm } from '../../parts'
import { guardLeaving } from '../../shell/leaving'
import { guardText } from '../../text/editor'

const question = {
  title: guardText.leaveWithoutSaving,
  text: guardText.yourChangesAreKeptInThis,
  action: guardText.leave,
}

/** While `dirty`, asks before the page is left: by a link, the back button, or closing the tab. */
export function useGuard(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return
    const release = guardLeaving(() => confirm(question))
    const close = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', close)
    return () => {
      release()
      removeEventListener('beforeunload', close)
    }
  }, [dirty])
}
