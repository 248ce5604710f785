import { Stack, Text } from '@mantine/core'
import { CopyField } from '../../parts'
import { linkHelpText } from '../../text/sign-in'

/** How to get a link for setting a password. */
export function LinkHelp({ email }: { email?: string }) {
  const whose = email && /^[\w.+@-]+$/.test(email) ? email : 'you@example.org' // other characters would need quotes in a shell
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {linkHelpText.theOperatorCanCreateALink}
      </Text>
      <CopyField label={linkHelpText.commandToCreateALink} hideLabel value={`blueprintd user link --email ${whose}`} />
      <Text size="sm" c="dimmed">
        {linkHelpText.untilAPasswordIsSet} <b>{linkHelpText.blueprintdServe}</b> {linkHelpText.printsSuchALinkForThe}
      </Text>
    </Stack>
  )
}
