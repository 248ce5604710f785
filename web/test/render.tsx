import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render } from '@testing-library/react'
import type { ReactElement } from 'react'
import { type Session, SignedIn } from '../src/api/session'

const session = {
  user: { id: 'ada', email: 'ada@example.org', name: 'Ada' },
  organizations: [],
} as unknown as Session

/** Shows a part of a page to a signed-in user. */
export function show(element: ReactElement) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  return render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <SignedIn value={session}>{element}</SignedIn>
        <Notifications />
      </QueryClientProvider>
    </MantineProvider>,
  )
}
