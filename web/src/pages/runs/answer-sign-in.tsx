import { Button, Group, Stack, Text } from '@mantine/core'
import { SafeLink } from '../../parts'
import type { AnswerProps } from './answer-props'

/** A sign-in at another service, in a tab of its own. */
export function SignInForm({ asked, answering }: AnswerProps) {
  return (
    <Stack gap="sm">
      {asked.url
        ? <Text>{<SafeLink href={asked.url}>Sign in</SafeLink>}</Text>
        : <Text size="sm" c="dimmed">There is no address to sign in at. Sign in at the connection itself, then go on here.</Text>}
      <Text size="sm" c="dimmed">The run goes on by itself once you have signed in. If it does not, let it look again.</Text>
      <Group><Button variant="default" loading={answering.isPending} onClick={() => answering.mutate(undefined)}>I have signed in, look again</Button></Group>
    </Stack>
  )
}
