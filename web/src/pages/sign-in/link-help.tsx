import { Stack, Text } from '@mantine/core'
import { CopyField } from '../../parts'

/** How to come by a link with which a password is set. */
export function LinkHelp({ email }: { email?: string }) {
  const whose = email && /^[\w.+@-]+$/.test(email) ? email : 'you@example.org' // anything else would need quotes in a shell
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        Whoever runs the server makes a link with this command, also while the server runs. It works once, for 24 hours.
      </Text>
      <CopyField label="Command for a link" hideLabel value={`blueprintd user link --email ${whose}`} />
      <Text size="sm" c="dimmed">
        As long as nobody has a password, <b>blueprintd serve</b> prints such a link for the server's owner at each
        start.
      </Text>
    </Stack>
  )
}
