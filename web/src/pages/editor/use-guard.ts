import { useEffect } from 'react'
import { confirm } from '../../parts'
import { guardLeaving } from '../../shell/leaving'

const question = {
  title: 'Leave without saving?',
  text: 'The changes stay in this browser and are offered when you come back.',
  action: 'Leave',
}

/** While `dirty`, asks before the page is left: by a link, by going back, or by closing the tab. */
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
