import { Button, Group, Skeleton, Table, Text, Title } from '@mantine/core'
import { IconClockExclamation, IconList } from '@tabler/icons-react'
import { useState } from 'react'
import { ErrorNote, Time } from '../../parts'
import { ClockChange } from './clock-change-view'
import { parseCron } from './cron'
import { localZone } from './zone'
import { RunLine } from './run-line'
import { dayAndTime } from './line-labels'

type Props = { ticks: string[] | undefined; error: unknown; cron: string; zone: string }

/** The next runs on a line, as a list, and around the next change of the clock. */
export function NextRuns({ ticks, error, cron, zone }: Props) {
  const [open, setOpen] = useState<'list' | 'change' | null>(null)
  const schedule = parseCron(cron)
  const place = zone || 'UTC'
  const toggle = (what: 'list' | 'change') => setOpen(open === what ? null : what)
  if (error)
    return (
      <>
        <Title order={2} size="h3">
          Next runs
        </Title>
        <ErrorNote error={error} title="The next runs cannot be computed" />
      </>
    )
  return (
    <>
      <Title order={2} size="h3">
        Next runs
      </Title>
      {!ticks ? (
        <Skeleton h={118} />
      ) : ticks.length === 0 ? (
        <Text size="sm" c="dimmed">
          There is none within a hundred years.
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
          As a list
        </Button>
        {schedule && (
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconClockExclamation size={16} aria-hidden />}
            aria-expanded={open === 'change'}
            onClick={() => toggle('change')}
          >
            Around the next clock change
          </Button>
        )}
      </Group>
      {open === 'list' && ticks && (
        <Table withRowBorders={false} verticalSpacing={3} fz="sm" aria-label="Next runs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{place}</Table.Th>
              {place !== localZone() && <Table.Th>Here, {localZone()}</Table.Th>}
              <Table.Th>From now</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ticks.map((tick) => (
              <Table.Tr key={tick}>
                <Table.Td>{dayAndTime(Date.parse(tick), place)}</Table.Td>
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
