import { useMutation, useQuery } from '@tanstack/react-query'
import { createContext, use } from 'react'
import { api, type Inputs, type Outputs } from './client'
import { isSignedOut } from './errors'
import { queryClient, sessionKey } from './query-client'

/** The signed-in user and their organizations. */
export type Session = Outputs['session']['get']
/** An organization of the signed-in user. */
export type Organization = Session['organizations'][number]

/** The session, as a query: `null` when signed out; an error only if the server could not respond. */
export function useSession() {
  return useQuery({ queryKey: sessionKey, queryFn: ask, staleTime: 60_000 })
}

/** The session of the pages inside the gate: the last one, even while a page is hidden because the session ended. */
export const SignedIn = createContext<Session | null>(null)

/** The session of a page inside the shell, where the user is always signed in. */
export function useSignedIn(): Session {
  const session = use(SignedIn)
  if (!session) throw new Error('useSignedIn is for pages inside the shell')
  return session
}

/** The mutation that signs in with {email, password}. Its error is for ErrorNote. */
export function useSignIn() {
  return useMutation({
    mutationKey: sessionKey,
    mutationFn: (input: Inputs['session']['create']) => api.session.create.mutate(input),
    onSuccess: begin,
  })
}

/** The mutation that uses a setup link: {token, email, name, password}; it signs in. */
export function useSetup() {
  return useMutation({
    mutationKey: sessionKey,
    mutationFn: (input: Inputs['session']['setup']) => api.session.setup.mutate(input),
    onSuccess: begin,
  })
}

/** The mutation that signs out, here or, with {everywhere: true}, on all devices. The page is reloaded, so that no data stays in memory. */
export function useSignOut() {
  return useMutation({
    mutationKey: sessionKey,
    mutationFn: (input: { everywhere?: boolean } | void) => api.session.delete.mutate(input),
    onSuccess: () => location.assign('/signin'),
  })
}

async function ask(): Promise<Session | null> {
  try {
    return await api.session.get.query()
  } catch (error) {
    if (isSignedOut(error)) return null
    throw error
  }
}

// Data of the previous user must not be shown to the new one.
function begin(session: Session): void {
  forget()
  queryClient.setQueryData(sessionKey, session)
  void queryClient.invalidateQueries()
}

function forget(): void {
  queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionKey[0] })
}
