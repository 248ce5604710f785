import { Alert, Text } from '@mantine/core'
import { IconAlertTriangle, IconClock } from '@tabler/icons-react'
import { describeError } from '../../api/errors'
import { ErrorNote } from '../../parts'
import { showCountdown } from './use-countdown'

/** Why signing in did not work. left: seconds that the account has to wait still. */
export function SignInError({ error, left }: { error: unknown; left: number }) {
  const { code } = describeError(error)
  if (code === 'TOO_MANY_REQUESTS') {
    return (
      <Alert color="amber" icon={<IconClock size={20} aria-hidden />} title="Too many failed attempts">
        <Text size="sm" role="status">
          {left > 0
            ? 'This account waits, so that nobody can guess its password. Even the right password is refused until then.'
            : 'The wait is over. You can try again now.'}
        </Text>
        {left > 0 && (
          <Text size="sm" fw={600} mt={4}>
            Try again in <span role="timer">{showCountdown(left)}</span>
          </Text>
        )}
      </Alert>
    )
  }
  if (code === 'UNAUTHORIZED') {
    return (
      <Alert
        color="red"
        icon={<IconAlertTriangle size={20} aria-hidden />}
        role="alert"
        title="The email or the password is wrong"
      >
        <Text size="sm">Check both. After ten failures within five minutes an account waits.</Text>
      </Alert>
    )
  }
  return <ErrorNote error={error} />
}
