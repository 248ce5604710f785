import { Alert, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX, IconLock } from '@tabler/icons-react'
import type { Outputs } from '../../api/client'
import { testResultText } from '../../text/connections'

/** The result of a connection test, with the message of the server. */
export function TestResult({ of }: { of: Outputs['connection']['test'] }) {
  // The address in the message is for clients without a sign-in button.
  const message = of.message.replace(/ Visit https?:\/\/\S+$/, '')
  const missing = message !== of.message // a sign-in is missing: the connection itself works
  const [color, Icon, title] = of.ok
    ? (['green', IconCircleCheck, testResultText.connectionWorks] as const)
    : missing
      ? (['amber', IconLock, testResultText.notSignedIn] as const)
      : (['red', IconCircleX, testResultText.connectionFailed] as const)
  return (
    <Alert color={color} icon={<Icon size={20} aria-hidden />} title={title}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {message.charAt(0).toUpperCase() + message.slice(1)}
        {/[.!?]$/.test(message) ? '' : '.'}
      </Text>
    </Alert>
  )
}
