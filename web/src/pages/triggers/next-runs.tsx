import { Button, Group, Skeleton, Table, Text, Title } from '@mantine/core'
import { IconClockExclamation, IconList } from '@tabler/icons-react'
import { useState } from 'react'
import { ErrorNote, Time } from '../../parts'
import { ClockChange } from './clock-change-view'
import { parseCron } from './cron'
import { localZone } from './zone'
import { RunLine } from './run-line'
import { dayAndTime } from './line-labels'
import { nextRunsText } from '../../text/triggers'

type Props = { ticks: string[] | undefined; error: unknown; cron: string; zone: string }

/** The next runs on a line, as a list, and around the next clock change. */
export function NextRuns({ ticks, error, cron, zone }: Props) {
  const [open, setOpen] = useState<'list' | 'change' | null>(null)
  const schedule = parseCron(cron)
  const place = zone || 'UTC'
  const toggle = (what: 'list' | 'change') => setOpen(open === what ? null : what)
  if (error)
    return (
      <>
        <Title order={2} size="h3">
          {nextRunsText.nextRuns}
        </Title>
        <ErrorNote error={error} title={nextRunsText.couldNotComputeTheNextRuns} />
      </>
    )
  return (
    <>
      <Title order={2} size="h3">
        {nextRunsText.nextRuns}
      </Title>
      {!ticks ? (
        <Skeleton h={118} />
      ) : ticks.length === 0 ? (
        <Text size="sm" c="dimmed">
          {nextRunsText.noRunsWithinTheNextHundred}
        </Text>
      ) : (
        <RunLine ticks={ticks.map((tick) => Date.parse(tick))} zone={place} />
      )}
      <Group gap="xs">
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconList size={16} aria-hidden />}
          aria-expanded={open === 'list'}
          onClick={() => toggle('list')}
        >
          {nextRunsText.list}
        </Button>
        {schedule && (
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconClockExclamation size={16} aria-hidden />}
            aria-expanded={open === 'change'}
            onClick={() => toggle('change')}
          >
            {nextRunsText.nextClockChange}
          </Button>
        )}
      </Group>
      {open === 'list' && ticks && (
        <Table withRowBorders={false} verticalSpacing={3} fz="sm" aria-label={nextRunsText.nextRuns}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{place}</Table.Th>
              {place !== localZone() && <Table.Th scope="col">{nextRunsText.localTime(localZone())}</Table.Th>}
              <Table.Th scope="col">{nextRunsText.fromNow}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ticks.map((tick) => (
              <Table.Tr key={tick}>
                <Table.Th scope="row" fw={400}>
                  {dayAndTime(Date.parse(tick), place)}
                </Table.Th>
                {place !== localZone() && <Table.Td>{dayAndTime(Date.parse(tick), localZone())}</Table.Td>}
                <Table.Td>
                  <Time at={tick} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {open === 'change' && schedule && <ClockChange schedule={schedule} zone={place} />}
    </>
  )
}
