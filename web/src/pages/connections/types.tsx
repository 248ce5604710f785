import { IconApi, IconBrandSlack, IconLock, IconMail, IconPlugConnected, IconSparkles, IconTools, type Icon } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api, type Outputs } from '../../api/client'

/** A connection, as its users see it. */
export type Connection = Outputs['connection']['get']
/** A type of connection, with the schema of its config. */
export type ConnectionType = Outputs['connection']['listTypes'][number]

const looks: Record<string, { icon: Icon; title: string }> = {
  'ai-provider': { icon: IconSparkles, title: 'AI provider' }, 'mcp-server': { icon: IconTools, title: 'MCP server' }, oauth2: { icon: IconLock, title: 'OAuth 2' },
  http: { icon: IconApi, title: 'HTTP' }, smtp: { icon: IconMail, title: 'Mail server' }, slack: { icon: IconBrandSlack, title: 'Slack' },
}

/** The sign of a type. */
export function TypeIcon({ type, size = 18 }: { type: string; size?: number }) {
  const Look = looks[type]?.icon ?? IconPlugConnected
  return <Look size={size} stroke={1.7} aria-hidden style={{ flex: 'none' }} />
}

/** The word for a type. */
export function typeTitle(type: string): string {
  return looks[type]?.title ?? type
}

/** The types that there are, with their forms; they do not change while the server runs. */
export function useTypes() {
  return useQuery({ queryKey: ['connection', 'types'], queryFn: () => api.connection.listTypes.query(), staleTime: 10 * 60_000 })
}
