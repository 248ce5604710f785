import { Code, Stack, Text } from '@mantine/core'
import { CopyField, Time } from '../parts'

const key = '$BLUEPRINTD_API_KEY'

/** What a sandbox is, and how to see what its runs sent. */
export function SandboxNote({ host }: { host: string }) {
  return (
    <Stack gap="sm">
      <Text size="sm" fw={600} component="h2">
        This server is a sandbox
      </Text>
      <Text size="sm">
        Runs work as ever, but whatever they send goes to fakes inside the server: mails, messages, requests, calls of
        models and tools. Nobody out there gets any of it, and answers are made up.
      </Text>
      <CopyField label="See what was sent" value={`curl -H "Authorization: Bearer ${key}" ${host}/sandbox/calls`} />
      <Text size="xs" c="dimmed">
        The key is one of yours, from Settings. It is a sandbox because it was started with <Code>serve --sandbox</Code>
        .
      </Text>
    </Stack>
  )
}

/** What a virtual clock is, and how to move it. */
export function ClockNote({ host, now }: { host: string; now: string }) {
  return (
    <Stack gap="sm">
      <Text size="sm" fw={600} component="h2">
        The clock of this server is virtual
      </Text>
      <Text size="sm">
        It stands at{' '}
        <b>
          <Time at={now} absolute />
        </b>{' '}
        until it is moved. Schedules, waits and deadlines go by it, and every “ago” here counts from it.
      </Text>
      <CopyField
        label="Move it by an hour"
        value={`curl -H "Authorization: Bearer ${key}" -d '{"by": "1h"}' ${host}/clock/advance`}
      />
    </Stack>
  )
}
