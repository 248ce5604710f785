import { Button, Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api } from '../../api/client'
import { describeError } from '../../api/errors'
import { sessionKey } from '../../api/query-client'
import { ErrorNote, PageHeader } from '../../parts'
import { Frame } from './frame'
import { LinkHelp } from './link-help'
import { SetupForm } from './setup-form'
import { useLinkToken } from './use-link-token'
import { setupPageText } from '../../text/sign-in'

/** Handles a setup link: fetches its account, and sets the password. */
export default function SetupPage() {
  const token = useLinkToken()
  const link = useQuery({
    // Below the session's key: a 401 here must not refetch the session.
    queryKey: [...sessionKey, 'setup', token],
    queryFn: () => api.session.getSetup.query({ token }),
    enabled: token !== '',
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  if (token === '')
    return (
      <Frame>
        <Useless title={setupPageText.thisPageNeedsALink} text={setupPageText.openTheCompleteLinkThat} />
      </Frame>
    )
  if (link.data)
    return (
      <Frame>
        <SetupForm token={token} link={link.data} />
      </Frame>
    )
  if (link.isPending)
    return (
      <Frame>
        <Waiting />
      </Frame>
    )
  const { code } = describeError(link.error)
  if (code === 'NOT_FOUND' || code === 'BAD_REQUEST') {
    return (
      <Frame>
        <Useless title={setupPageText.thisLinkIsNoLongerValid} text={setupPageText.eachLinkWorksOnceWithin24} />
      </Frame>
    )
  }
  return (
    <Frame>
      <PageHeader title={setupPageText.setYourPassword} />
      <ErrorNote error={link.error} onRetry={() => void link.refetch()} />
    </Frame>
  )
}

function Useless({ title, text }: { title: string; text: string }) {
  return (
    <>
      <PageHeader title={title} />
      <Stack>
        <Text size="sm">{text}</Text>
        <LinkHelp />
        <Button component={Link} href="/signin" size="md" h={44}>
          {setupPageText.goToSignIn}
        </Button>
      </Stack>
    </>
  )
}

function Waiting() {
  return (
    <Stack aria-busy="true">
      <VisuallyHidden role="status">{setupPageText.checkingTheLink}</VisuallyHidden>
      <Skeleton h={28} w={220} />
      {[0, 1, 2].map((row) => (
        <Skeleton key={row} h={64} />
      ))}
      <Skeleton h={44} />
    </Stack>
  )
}
