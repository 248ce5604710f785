import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../api/client'
import { safeAddress } from '../../parts/safe-address'

/**
 * Signs in for an oauth2 connection in a new tab. The tab is opened by the click, before the address is known, because
 * browsers block one that opens later. onReturn is called when the user returns to this tab.
 */
export function useSignInTab(id: string, onReturn: () => void) {
  const [waiting, setWaiting] = useState(false)
  const [refused, setRefused] = useState<string>()
  const ask = useMutation({ mutationFn: () => api.connection.signIn.mutate({ id }) })

  useEffect(() => {
    if (!waiting) return
    const back = () => {
      if (document.visibilityState === 'visible') onReturn()
    }
    document.addEventListener('visibilitychange', back)
    addEventListener('focus', back)
    return () => {
      document.removeEventListener('visibilitychange', back)
      removeEventListener('focus', back)
    }
  }, [waiting, onReturn])

  const begin = () => {
    const tab = open('', '_blank')
    setRefused(undefined)
    ask.mutate(undefined, {
      onSuccess: ({ url }) => {
        const address = safeAddress(url)
        if (!address?.startsWith('http')) return tab?.close()
        setWaiting(true)
        if (!tab) return setRefused(address)
        tab.opener = null
        tab.location.replace(address)
      },
      onError: () => tab?.close(),
    })
  }
  /** refused: the address, if the browser did not open a tab. */
  return { begin, waiting, refused, error: ask.error, isPending: ask.isPending, done: () => setWaiting(false) }
}
