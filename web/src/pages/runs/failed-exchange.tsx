import { Text, Title } from '@mantine/core'
import { KeyValue } from '../../parts'
import { Side } from './traffic-row'
import classes from './traffic.module.css'
import type { Step } from './types'
import { failedExchangeText } from '../../text/runs'
import { commonText } from '../../text/common'

type Exchange = NonNullable<NonNullable<Step['error']>['exchange']>

/** The response to a failed step, which says why it failed, and its request, as stored with the failure. */
export function FailedExchange({ exchange, address }: { exchange: Exchange; address: string }) {
  const { request, response } = exchange
  const mail = request.url === undefined
  return (
    <section aria-label={failedExchangeText.failedExchange} className={classes.failed}>
      {mail ? (
        <>
          <Title order={4}>{failedExchangeText.mail}</Title>
          <KeyValue
            pairs={[
              [commonText.server, `${request.host ?? ''}:${request.port ?? ''}`],
              [failedExchangeText.from, request.from],
              [failedExchangeText.to, request.to],
              [failedExchangeText.subject, request.subject],
              [
                failedExchangeText.reply,
                response ? [response.code, response.message].filter(Boolean).join(' ') : commonText.none,
              ],
            ]}
          />
        </>
      ) : (
        <>
          {response ? (
            <Side
              level={4}
              title={commonText.response}
              first={failedExchangeText.status(response.status)}
              headers={response.headers}
              body={response.body}
              label={failedExchangeText.responseBodyFrom(address)}
            />
          ) : (
            <Side
              level={4}
              title={commonText.response}
              body={undefined}
              label={failedExchangeText.responseBodyFrom(address)}
              error={commonText.none}
              brief
            />
          )}
          <Side
            level={4}
            title={failedExchangeText.request}
            first={`${request.method ?? ''} ${request.url ?? ''}`}
            headers={request.headers}
            body={request.body}
            label={failedExchangeText.requestBodyFor(address)}
          />
        </>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        {failedExchangeText.credentialsAreMaskedAtMost16}
      </Text>
    </section>
  )
}
