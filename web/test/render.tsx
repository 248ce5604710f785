import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from '@testing-library/react'
import userEvent, { PointerEventsCheckLevel } from '@testing-library/user-event'
import type { ReactElement } from 'react'
import { type Session, SignedIn } from '../src/api/session'
import { ConfirmHost } from '../src/parts/confirm'

const session = {
  user: { id: 'ada', email: 'ada@example.org', name: 'Ada' },
  organizations: [],
} as unknown as Session

/** Shows a part of a page to a signed-in user, at an address; what the user does is the answer. */
export function show(element: ReactElement, at = '/') {
  history.replaceState(null, '', at)
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <SignedIn value={session}>{element}</SignedIn>
        <Notifications />
        <ConfirmHost />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return userEvent.setup({ delay: null, pointerEventsCheck: PointerEventsCheckLevel.Never }) // without styles anything can be clicked
}
