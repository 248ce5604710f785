import { useLayoutEffect, useState } from 'react'

/**
 * The token of the setup link. It leaves the address bar at once, so that nobody reads or copies it from there; in the
 * state of this one entry of the history it survives a reload. What replaces the entry forgets it.
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
