import { Alert, Text } from '@mantine/core'
import { IconAlertTriangle, IconClock } from '@tabler/icons-react'
import { describeError } from '../../api/errors'
import { ErrorNote } from '../../parts'
import { showCountdown } from './use-countdown'
import { signInErrorText } from '../../text/sign-in'

/** Why a sign-in failed. left: seconds for which the account is still locked. */
export function SignInError({ error, left }: { error: unknown; left: number }) {
  const { code } = describeError(error)
  if (code === 'TOO_MANY_REQUESTS') {
    return (
      <Alert color="amber" icon={<IconClock size={20} aria-hidden />} title={signInErrorText.tooManyFailedAttempts}>
        <Text size="sm" role="status">
          {left > 0 ? signInErrorText.thisAccountIsLockedToPrevent : signInErrorText.youCanTryAgainNow}
        </Text>
        {left > 0 && (
          <Text size="sm" fw={600} mt={4}>
            {signInErrorText.tryAgainIn} <span role="timer">{showCountdown(left)}</span>
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
        title={signInErrorText.wrongEmailOrPassword}
      >
        <Text size="sm">{signInErrorText.checkBothTenFailuresWithinFive}</Text>
      </Alert>
    )
  }
  return <ErrorNote error={error} />
}
