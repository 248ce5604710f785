import { useLayoutEffect, useState } from 'react'

/**
 * The token of the setup link. It is removed from the address bar at once, so that it cannot be read or copied there.
 * The state of this history entry keeps it across a reload, until the entry is replaced.
 */
export function useLinkToken(): string {
  const [token] = useState(read)
  useLayoutEffect(() => {
    if (!token || location.search === '') return
    history.replaceState({ setupToken: token }, '', location.pathname)
  }, [token])
  return token
}

function read(): string {
  const kept = (history.state as { setupToken?: unknown } | null)?.setupToken
  return new URLSearchParams(location.search).get('token') ?? (typeof kept === 'string' ? kept : '')
}
