import { Center, Loader, Stack } from '@mantine/core'
import { Activity, type ComponentType, type ReactNode, useState } from 'react'
import { SignedIn, useSession } from '../api/session'
import { ErrorNote } from '../parts/error-note'
import { commonText } from '../text/common'

/**
 * Shows its children to a signed-in user, otherwise the sign-in page at the same address. If a session ends while a
 * page is open, the page is only hidden, and unchanged after the same user signs in again. Another user gets a new
 * page.
 */
export function Gate({
  signIn: SignIn,
  children,
}: {
  /** The sign-in page. */ signIn: ComponentType
  children: ReactNode
}) {
  const session = useSession()
  const [last, setLast] = useState(session.data ?? null)
  if (session.data && session.data !== last) setLast(session.data)

  if (session.isPending)
    return (
      <Center component="main" h="60vh">
        <Loader aria-label={commonText.loading} role="status" />
      </Center>
    )
  if (session.data === undefined) {
    return (
      <Stack component="main" maw={520} mx="auto" p="md" pt="12vh">
        <ErrorNote error={session.error} onRetry={() => void session.refetch()} />
      </Stack>
    )
  }
  return (
    <>
      {last && (
        <Activity key={last.user.id} mode={session.data ? 'visible' : 'hidden'}>
          <SignedIn value={last}>{children}</SignedIn>
        </Activity>
      )}
      {!session.data && <SignIn />}
    </>
  )
}
