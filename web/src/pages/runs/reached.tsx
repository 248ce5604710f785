import { List, Skeleton, Table, Text, Title } from '@mantine/core'
import { KeyValue, showCount } from '../../parts'
import classes from './run-page.module.css'
import type { LogRecord } from './use-run-facts'

/** What a run reached outside: models, tools, hosts, and how it signed in there. */
export function Reached({ record }: { record: LogRecord | null | undefined }) {
  return (
    <section className={classes.section} aria-labelledby="reached">
      <div className={classes.sectionHead}>
        <Title order={2} id="reached">
          What it reached
        </Title>
      </div>
      {record === undefined && <Skeleton h={80} />}
      {record === null && (
        <Text size="sm" c="dimmed">
          The log record of this run cannot be found, or is not yours to see.
        </Text>
      )}
      {record && <Inside record={record} />}
    </section>
  )
}

const methods: Record<string, string> = {
  oauth2: 'OAuth 2',
  api_key: 'API key',
  bearer: 'bearer token',
  basic: 'user name and password',
}

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
        Nothing outside: no model, no tool server, no other host.
      </Text>
    )
  return (
    <div className={classes.reached}>
      {(record.aiProvidersUsedCount > 0 || record.totalTokensUsed > 0) && (
        <div className={classes.box}>
          <Title order={3} size="h4">
            Language models
          </Title>
          <KeyValue
            pairs={[
              ['Tokens', record.totalTokensUsed.toLocaleString('en')],
              ['Providers', showCount(record.aiProvidersUsedCount, 'connection')],
            ]}
          />
        </div>
      )}
      {record.usedMcpServers && (
        <div className={classes.box}>
          <Title order={3} size="h4">
            Tool servers
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
            Hosts
          </Title>
          <Table fz="sm" verticalSpacing={4} horizontalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Host</Table.Th>
                <Table.Th ta="end">Calls</Table.Th>
                <Table.Th ta="end">Statuses</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {record.dataSourcesSummary.map(({ host, calls, statuses }) => (
                <Table.Tr key={host}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{host}</Table.Td>
                  <Table.Td ta="end">{calls.toLocaleString('en')}</Table.Td>
                  <Table.Td ta="end">{statuses.join(', ') || 'no answer'}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {(record.authenticationMethodsUsed.length > 0 || record.requiredLogin) && (
        <div className={classes.box}>
          <Title order={3} size="h4">
            Signed in with
          </Title>
          <List size="sm">
            {record.authenticationMethodsUsed.map((method) => (
              <List.Item key={method}>{methods[method] ?? method}</List.Item>
            ))}
            {record.requiredLogin && (
              <List.Item>
                a person’s own sign-in{record.oauthFlowsTriggered ? ', which the run asked for' : ''}
              </List.Item>
            )}
          </List>
        </div>
      )}
    </div>
  )
}
