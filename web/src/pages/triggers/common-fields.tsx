import { NumberInput, Radio, Stack, Switch, Text } from '@mantine/core'
import { fault, type FieldsProps } from './fields'
import classes from './triggers.module.css'

/** concurrency, breaker and record, which every type has. */
export function CommonFields({ config, set, error }: FieldsProps) {
  const lane =
    typeof config.concurrency === 'object' && config.concurrency !== null
      ? (config.concurrency as { limit?: unknown; onLimit?: unknown })
      : null
  const change = (part: object) => set({ concurrency: { ...lane, ...part } })
  return (
    <section className={classes.box} aria-label="Limits and recording">
      <Switch
        label="Limit how many runs go on at once"
        description="Runs that wait or are paused count too."
        checked={lane !== null}
        onChange={(event) =>
          set({ concurrency: event.currentTarget.checked ? { limit: 1, onLimit: 'queue' } : undefined })
        }
        error={fault(error, 'concurrency')}
      />
      {lane && (
        <>
          <NumberInput
            label="At most"
            description="From 1 to 1,000 runs."
            min={1}
            max={1000}
            allowDecimal={false}
            allowNegative={false}
            maw={200}
            value={typeof lane.limit === 'number' ? lane.limit : ''}
            onChange={(limit) => change({ limit: limit === '' ? undefined : Number(limit) })}
            error={fault(error, 'concurrency', 'limit')}
          />
          <Radio.Group
            label="When one more comes"
            value={typeof lane.onLimit === 'string' ? lane.onLimit : 'queue'}
            onChange={(onLimit) => change({ onLimit })}
            error={fault(error, 'concurrency', 'onLimit')}
          >
            <Stack gap="xs" mt="xs">
              <Radio
                value="queue"
                label="It waits for its turn"
                description="At most 1,000 wait; beyond that senders are told to come again."
              />
              <Radio value="skip" label="It is left out" description="The ledger has it as skipped." />
              <Radio
                value="cancel-running"
                label="The oldest run is cancelled for it"
                description="The newest always wins."
              />
            </Stack>
          </Radio.Group>
        </>
      )}
      <Switch
        label="Switch off after 20 failed runs in a row"
        description="Keeps something broken from running for ever. The ledger and the log say so; you switch it on again."
        checked={config.breaker !== false}
        onChange={(event) => set({ breaker: event.currentTarget.checked ? undefined : false })}
        error={fault(error, 'breaker')}
      />
      {config.breaker === false && (
        <Text size="sm" c="dimmed">
          Without it the trigger goes on, however often its runs fail.
        </Text>
      )}
      <Switch
        label="Record traffic"
        description="Keeps what its runs exchange with other services, and their mails, to look at and to make tests of. Credentials are left out. It takes room: up to some MiB a run."
        checked={config.record === true}
        onChange={(event) => set({ record: event.currentTarget.checked ? true : undefined })}
        error={fault(error, 'record')}
      />
    </section>
  )
}
