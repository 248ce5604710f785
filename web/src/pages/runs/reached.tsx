import { List, Skeleton, Table, Text, Title } from '@mantine/core'
import { KeyValue } from '../../parts'
import classes from './run-page.module.css'
import type { LogRecord } from './use-run-facts'
import { reachedText } from '../../text/runs'
import { commonText } from '../../text/common'

/** What a run called: models, tools, hosts, and its sign-ins there. */
export function Reached({ record }: { record: LogRecord | null | undefined }) {
  return (
    <section className={classes.section} aria-labelledby="reached">
      <div className={classes.sectionHead}>
        <Title order={2} id="reached">
          {reachedText.externalServices}
        </Title>
      </div>
      {record === undefined && <Skeleton h={80} />}
      {record === null && (
        <Text size="sm" c="dimmed">
          {reachedText.theRecordOfThisRunDoes}
        </Text>
      )}
      {record && <Inside record={record} />}
    </section>
  )
}

const methods = new Map(
  Object.entries<string>({
    oauth2: reachedText.oauth2,
    api_key: reachedText.apiKey,
    bearer: reachedText.bearerToken,
    basic: reachedText.basicUserNameAndPassword,
  }),
)

function Inside({ record }: { record: LogRecord }) {
  const reached =
    record.totalTokensUsed > 0 ||
    record.aiProvidersUsedCount > 0 ||
    record.usedMcpServers ||
    record.reachedOutForData ||
    record.authenticationMethodsUsed.length > 0
  if (!reached && record.dataSourcesSummary.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {reachedText.noModelsToolServersOrOther}
      </Text>
    )
  return (
    <div className={classes.reached}>
      {(record.aiProvidersUsedCount > 0 || record.totalTokensUsed > 0) && (
        <div className={classes.box}>
          <Title order={3} size="h4">
            {reachedText.languageModels}
          </Title>
          <KeyValue
            pairs={[
              [commonText.tokens, record.totalTokensUsed.toLocaleString('en')],
              [reachedText.providers, reachedText.connections(record.aiProvidersUsedCount)],
            ]}
          />
        </div>
      )}
      {record.usedMcpServers && (
        <div className={classes.box}>
          <Title order={3} size="h4">
            {reachedText.toolServers}
          </Title>
          <List size="sm">
            {record.mcpServerNames.map((name) => (
              <List.Item key={name}>{name}</List.Item>
            ))}
          </List>
        </div>
      )}
      {record.dataSourcesSummary.length > 0 && (
        <div className={classes.box}>
          <Title order={3} size="h4">
            {reachedText.hosts}
          </Title>
          <Table fz="sm" verticalSpacing={4} horizontalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{reachedText.host}</Table.Th>
                <Table.Th scope="col" ta="end">
                  {reachedText.calls}
                </Table.Th>
                <Table.Th scope="col" ta="end">
                  {reachedText.statuses}
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {record.dataSourcesSummary.map(({ host, calls, statuses }) => (
                <Table.Tr key={host}>
                  <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
                    {host}
                  </Table.Th>
                  <Table.Td ta="end">{calls.toLocaleString('en')}</Table.Td>
                  <Table.Td ta="end">{statuses.join(', ') || reachedText.noResponse}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {(record.authenticationMethodsUsed.length > 0 || record.requiredLogin) && (
        <div className={classes.box}>
          <Title order={3} size="h4">
            {reachedText.signedInWith}
          </Title>
          <List size="sm">
            {record.authenticationMethodsUsed.map((method) => (
              <List.Item key={method}>{methods.get(method) ?? method}</List.Item>
            ))}
            {record.requiredLogin && (
              <List.Item>
                {reachedText.signInOfAUser(record.oauthFlowsTriggered ? reachedText.requestedByTheRun : '')}
              </List.Item>
            )}
          </List>
        </div>
      )}
    </div>
  )
}
