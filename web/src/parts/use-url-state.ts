import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'wouter'

/**
 * A text stored in the query of the address: `const [status, setStatus] = useUrlState('status')`. The fallback is not
 * written. Setting replaces the history entry unless {push: true}.
 */
export function useUrlState(
  name: string,
  fallback = '',
): [string, (value: string, options?: { push?: boolean }) => void] {
  const [values, set] = useUrlStates({ [name]: fallback })
  const setOne = useCallback(
    (value: string, options?: { push?: boolean }) => set({ [name]: value }, options),
    [name, set],
  )
  return [values[name] ?? fallback, setOne]
}

/**
 * Several texts kept in the query, to be set together (a filter and the page that it resets):
 * `const [{ status, page }, set] = useUrlStates({ status: '', page: '1' })`, `set({ status: 'failed', page: '1' })`.
 */
export function useUrlStates<Names extends string>(
  fallbacks: Record<Names, string>,
): [Record<Names, string>, (change: Partial<Record<Names, string>>, options?: { push?: boolean }) => void] {
  const [params, setParams] = useSearchParams()
  const written = JSON.stringify(fallbacks) // an object literal is new at each render; its text is not
  const values = useMemo(() => {
    const known = JSON.parse(written) as Record<Names, string>
    return Object.fromEntries(
      Object.entries<string>(known).map(([name, fallback]) => [name, params.get(name) ?? fallback]),
    ) as Record<Names, string>
  }, [params, written])
  const set = useCallback(
    (change: Partial<Record<Names, string>>, options?: { push?: boolean }) => {
      const known = JSON.parse(written) as Record<Names, string>
      setParams(
        (before) => {
          const after = new URLSearchParams(before)
          for (const [name, value] of Object.entries<string | undefined>(change)) {
            if (value === undefined || value === known[name as Names]) after.delete(name)
            else after.set(name, value)
          }
          return after
        },
        { replace: !options?.push, state: { keepFocus: true } },
      )
    },
    [setParams, written],
  )
  return [values, set]
}
