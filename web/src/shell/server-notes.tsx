import { Code, Stack, Text } from '@mantine/core'
import { CopyField, Time } from '../parts'
import { serverNotesText } from '../text/shell'

const key = '$BLUEPRINTD_API_KEY'

/** What a sandbox is, and how to see the calls of its runs. */
export function SandboxNote({ host }: { host: string }) {
  return (
    <Stack gap="sm">
      <Text size="sm" fw={600} component="h2">
        {serverNotesText.thisServerIsASandbox}
      </Text>
      <Text size="sm">{serverNotesText.runsSendMailMessagesRequests}</Text>
      <CopyField
        label={serverNotesText.seeWhatWasSent}
        value={`curl -H "Authorization: Bearer ${key}" ${host}/sandbox/calls`}
      />
      <Text size="xs" c="dimmed">
        {serverNotesText.theKeyIsOneOfYour} <Code>{serverNotesText.serveSandbox}</Code>.
      </Text>
    </Stack>
  )
}

/** What a virtual clock is, and how to advance it. */
export function ClockNote({ host, now }: { host: string; now: string }) {
  return (
    <Stack gap="sm">
      <Text size="sm" fw={600} component="h2">
        {serverNotesText.theServerClockIsVirtual}
      </Text>
      <Text size="sm">
        {serverNotesText.itShows}{' '}
        <b>
          <Time at={now} absolute />
        </b>{' '}
        {serverNotesText.untilYouAdvanceItSchedules}
      </Text>
      <CopyField
        label={serverNotesText.advanceTheClockByOneHour}
        value={`curl -H "Authorization: Bearer ${key}" -d '{"by": "1h"}' ${host}/clock/advance`}
      />
    </Stack>
  )
}
