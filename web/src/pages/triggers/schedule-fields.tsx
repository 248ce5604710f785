import { Radio, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { issueFor } from '../../api/errors'
import { CronBuilder } from './cron-builder'
import { scheduleInWords } from './cron-words'
import { parseCron } from './cron'
import { fault, type FieldsProps } from './fields'
import { NextRuns } from './next-runs'
import { textOf } from './types'
import classes from './triggers.module.css'
import { ZoneSelect } from './zone-select'
import { scheduleFieldsText } from '../../text/triggers'

/** cron, timezone and catchUp, with the next runs as the server computes them. */
export function ScheduleFields({ config, set, error }: FieldsProps) {
  const [cron, zone, catchUp] = [
    textOf(config, 'cron'),
    textOf(config, 'timezone'),
    textOf(config, 'catchUp') || 'latest',
  ]
  const preview = usePreview(cron, zone)
  return (
    <>
      <section className={classes.box} aria-label={scheduleFieldsText.schedule}>
        <CronBuilder cron={cron} onChange={(next) => set({ cron: next })} />
        <TextInput
          label={scheduleFieldsText.cronExpression}
          description={scheduleFieldsText.minuteHourDayOfTheMonth}
          required
          withAsterisk={false}
          value={cron}
          onChange={(event) => set({ cron: event.currentTarget.value })}
          spellCheck={false}
          autoComplete="off"
          error={issueFor(preview.error, 'cron') ?? fault(error, 'cron')}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        {parseCron(cron) && (
          <Text className={classes.said} aria-live="polite">
            {scheduleFieldsText.runs(scheduleInWords(cron, zone))}
          </Text>
        )}
        <ZoneSelect
          value={zone}
          onChange={(next) => set({ timezone: next })}
          error={issueFor(preview.error, 'timezone') ?? fault(error, 'timezone')}
        />
      </section>
      <section className={classes.box} aria-label={scheduleFieldsText.nextRuns}>
        <NextRuns ticks={preview.data} error={preview.error} cron={cron} zone={zone} />
      </section>
      <section className={classes.box} aria-label={scheduleFieldsText.missedRuns}>
        <Radio.Group
          label={scheduleFieldsText.missedRuns}
          description={scheduleFieldsText.runsMissedWhileTheServerWas}
          value={catchUp}
          onChange={(next) => set({ catchUp: next === 'latest' ? undefined : next })}
          error={fault(error, 'catchUp')}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="latest"
              label={scheduleFieldsText.runOnce}
              description={scheduleFieldsText.startsOneRunForTheLast}
            />
            <Radio value="all" label={scheduleFieldsText.runAll} description={scheduleFieldsText.upToTheLast100} />
            <Radio
              value="none"
              label={scheduleFieldsText.skip}
              description={scheduleFieldsText.continuesWithTheNextTimeThe}
            />
          </Stack>
        </Radio.Group>
      </section>
    </>
  )
}

/** The next ten runs of an expression, a moment after the last keystroke. */
export function usePreview(cron: string, zone: string) {
  const [question] = useDebouncedValue(JSON.stringify([cron, zone]), 300)
  const [askedCron, askedZone] = JSON.parse(question) as [string, string]
  return useQuery({
    queryKey: ['schedule', 'preview', askedCron, askedZone],
    queryFn: () =>
      api.blueprintTriggers.preview.query({
        cron: askedCron,
        count: 10,
        ...(askedZone ? { timezone: askedZone } : {}),
      }),
    enabled: askedCron.trim() !== '',
    placeholderData: keepPreviousData,
    retry: false,
    refetchInterval: 60_000,
  })
}
