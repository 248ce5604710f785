import { Button, Group, Stack, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { safeAddress } from '../../parts/safe-address'
import type { AnswerProps } from './answer-props'
import { answerSignInText } from '../../text/runs'

/** A sign-in at another service, in a new tab. */
export function SignInForm({ asked, answering }: AnswerProps) {
  const address = asked.url ? safeAddress(asked.url) : undefined
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {address ? answerSignInText.theRunContinuesAfterYouSign : answerSignInText.thereIsNoSignInAddress}
      </Text>
      <Group gap="xs">
        {address && (
          <Button
            component="a"
            href={address}
            target="_blank"
            rel="noopener noreferrer"
            rightSection={<IconExternalLink size={16} role="img" aria-label={answerSignInText.opensInANewTab} />}
          >
            {answerSignInText.signIn}
          </Button>
        )}
        <Button variant="default" loading={answering.isPending} onClick={() => answering.mutate(undefined)}>
          {answerSignInText.checkSignIn}
        </Button>
      </Group>
    </Stack>
  )
}
