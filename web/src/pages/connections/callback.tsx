import { Skeleton, Text } from '@mantine/core'
import { useServerInfo } from '../../api/server-info'
import { CopyField } from '../../parts'

/** The address that has to be registered at a service where people sign in. */
export function Callback() {
  const info = useServerInfo()
  if (info.isPending) return <Skeleton h={84} />
  return (
    <div>
      <CopyField label="Callback address" value={`${info.data?.apiHost ?? location.origin}/oauth/callback`} />
      <Text size="xs" c="dimmed" mt={4}>
        Register it at the service, often called redirect URI. It begins with the address of this server (
        <code>--public-url</code>).
      </Text>
    </div>
  )
}
