import { Button, Group, Stack, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { safeAddress } from '../../parts/safe-address'
import type { AnswerProps } from './answer-props'

/** A sign-in at another service, in a tab of its own. */
export function SignInForm({ asked, answering }: AnswerProps) {
  const address = asked.url ? safeAddress(asked.url) : undefined
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {address
          ? 'The run continues when you have signed in. If it does not, check again.'
          : 'There is no sign-in address. Sign in on the connection’s page, then continue here.'}
      </Text>
      <Group gap="xs">
        {address && (
          <Button
            component="a"
            href={address}
            target="_blank"
            rel="noopener noreferrer"
            rightSection={<IconExternalLink size={16} role="img" aria-label="(opens in a new tab)" />}
          >
            Sign in
          </Button>
        )}
        <Button variant="default" loading={answering.isPending} onClick={() => answering.mutate(undefined)}>
          I have signed in, check again
        </Button>
      </Group>
    </Stack>
  )
}
