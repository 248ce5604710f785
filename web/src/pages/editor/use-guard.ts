import { useEffect } from 'react'
import { confirm } from '../../parts'
import { guardLeaving } from '../../shell/leaving'

const question = { title: 'Leave without saving?', text: 'The changes stay in this browser and are offered when you come back.', action: 'Leave' }

/** While `dirty`, asks before the page is left: by a link, by going back, or by closing the tab. */
export function useGuard(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return
    const release = guardLeaving(() => confirm(question))
    const here = location.pathname + location.search
    const close = (event: BeforeUnloadEvent) => event.preventDefault()
    // The browser has gone back already when it tells. We go forth again, ask, and then go back for good.
    const back = (event: PopStateEvent) => {
      if (location.pathname === here.split('?')[0]) return
      event.stopImmediatePropagation()
      history.pushState(null, '', here)
      void confirm(question).then((yes) => {
        if (!yes) return
        off()
        history.back()
      })
    }
    const off = () => {
      release()
      removeEventListener('beforeunload', close)
      removeEventListener('popstate', back, true)
    }
    addEventListener('beforeunload', close)
    addEventListener('popstate', back, true)
    return off
  }, [dirty])
}
