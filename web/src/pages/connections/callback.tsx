import { Skeleton, Text } from '@mantine/core'
import { useServerInfo } from '../../api/server-info'
import { CopyField } from '../../parts'
import { callbackText } from '../../text/connections'

/** The address to register at a service where users sign in. */
export function Callback() {
  const info = useServerInfo()
  if (info.isPending) return <Skeleton h={84} />
  return (
    <div>
      <CopyField label={callbackText.callbackUrl} value={`${info.data?.apiHost ?? location.origin}/oauth/callback`} />
      <Text size="xs" c="dimmed" mt={4}>
        {callbackText.registerThisRedirectUriWithThe}
        <code>{callbackText.publicUrl}</code>).
      </Text>
    </div>
  )
}
