import { Alert, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import type { Outputs } from '../../api/client'

/** How a test of a connection went, in the words of the server. */
export function TestResult({ of }: { of: Outputs['connection']['test'] }) {
  // The address in it is for who has no button to sign in.
  const message = of.message.replace(/ Visit https?:\/\/\S+$/, '')
  return (
    <Alert color={of.ok ? 'green' : 'red'} icon={of.ok ? <IconCircleCheck size={20} aria-hidden /> : <IconCircleX size={20} aria-hidden />} title={of.ok ? 'It works' : 'It does not work'}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>{message.charAt(0).toUpperCase() + message.slice(1)}{/[.!?]$/.test(message) ? '' : '.'}</Text>
    </Alert>
  )
}
