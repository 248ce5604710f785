import {
  IconApi,
  IconBrandSlack,
  IconLock,
  IconMail,
  IconPlugConnected,
  IconSparkles,
  IconTools,
  type Icon,
} from '@tabler/icons-react'
import { createElement } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type Outputs } from '../../api/client'
import { connectionTitles } from '../../text/kinds.gen'
import { typesText } from '../../text/connections'

/** A connection, as its users see it. */
export type Connection = Outputs['connection']['get']
/** A type of connection, with the schema of its config. */
export type ConnectionType = Outputs['connection']['listTypes'][number]

const icons = new Map(
  Object.entries<Icon>({
    'ai-provider': IconSparkles,
    'mcp-server': IconTools,
    oauth2: IconLock,
    http: IconApi,
    smtp: IconMail,
    slack: IconBrandSlack,
  }),
)

/** The icon of a type. */
export function TypeIcon({ type, size = 18 }: { type: string; size?: number }) {
  const look = icons.get(type) ?? IconPlugConnected
  return createElement(look, { size, stroke: 1.7, 'aria-hidden': true, style: { flex: 'none' } })
}

/** The name of a type. */
export function typeTitle(type: string): string {
  return connectionTitles.get(type) ?? type
}

const words = new Map(
  Object.entries<string>({
    authorization_code: typesText.usersSignIn,
    client_credentials: typesText.thisServerSignsIn,
    openai: 'OpenAI',
    anthropic: 'Anthropic',
    starttls: typesText.starttls,
    tls: typesText.tlsFromTheStart,
    none: typesText.noneNotEncrypted,
  }),
)

/** The schema of a config with labels for the choices, and with the keys that the others require. */
export function dressed(schema: Record<string, unknown>, config: Record<string, unknown>): Record<string, unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>).map(
    ([key, one]) => {
      const choices = one.enum
      return [
        key,
        Array.isArray(choices) && !one['x-labels']
          ? { ...one, 'x-labels': choices.map((choice) => words.get(String(choice)) ?? String(choice)) }
          : one,
      ]
    },
  )
  const required = [
    ...((schema.required ?? []) as string[]),
    ...(config.flow === 'authorization_code' ? ['authorizationUrl'] : []),
  ]
  return { ...schema, properties: Object.fromEntries(properties), required }
}

/** All types with their forms, which do not change while the server runs. */
export function useTypes() {
  return useQuery({
    queryKey: ['connection', 'types'],
    queryFn: () => api.connection.listTypes.query(),
    staleTime: 10 * 60_000,
  })
}
