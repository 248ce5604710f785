import { Text, Title } from '@mantine/core'
import { KeyValue } from '../../parts'
import { Side } from './traffic-row'
import classes from './traffic.module.css'
import type { Step } from './types'

type Exchange = NonNullable<NonNullable<Step['error']>['exchange']>

/** What a failed step sent and what came back, as the server kept it with the failure. */
export function FailedExchange({ exchange, address }: { exchange: Exchange; address: string }) {
  const { request, response } = exchange
  const mail = request.url === undefined
  return (
    <section aria-label="Failed exchange" className={classes.failed}>
      {mail ? (
        <>
          <Title order={4}>Mail</Title>
          <KeyValue
            pairs={[
              ['Server', `${request.host ?? ''}:${request.port ?? ''}`],
              ['From', request.from],
              ['To', request.to],
              ['Subject', request.subject],
              ['Reply', response ? [response.code, response.message].filter(Boolean).join(' ') : 'None'],
            ]}
          />
        </>
      ) : (
        <>
          <Text size="sm" className={classes.url}>
            {request.method} {request.url}
          </Text>
          <Side
            level={4}
            title="Request"
            headers={request.headers}
            body={request.body}
            label={`Body of the request of ${address}`}
          />
          {response ? (
            <Side
              level={4}
              title="Response"
              first={`Status ${response.status}`}
              headers={response.headers}
              body={response.body}
              label={`Body of the response to ${address}`}
            />
          ) : (
            <Side
              level={4}
              title="Response"
              body={undefined}
              label={`Body of the response to ${address}`}
              error="None"
              brief
            />
          )}
        </>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        Credentials are masked. Bodies are kept up to 16 KiB.
      </Text>
    </section>
  )
}
