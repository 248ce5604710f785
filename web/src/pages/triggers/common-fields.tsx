import { NumberInput, Radio, Stack, Switch, Text, TextInput } from '@mantine/core'
import { fault, type FieldsProps } from './fields'
import classes from './triggers.module.css'
import { textOf } from './types'
import { commonFieldsText } from '../../text/triggers'

/** label, the name of a trigger. */
export function LabelField({ config, set, error, agents }: FieldsProps & { agents: boolean }) {
  return (
    <TextInput
      label={commonFieldsText.label}
      description={agents ? commonFieldsText.nameInListsAndForAgents : commonFieldsText.nameInLists}
      value={textOf(config, 'label')}
      onChange={(event) => set({ label: event.currentTarget.value || undefined })}
      error={fault(error, 'label')}
      maxLength={200}
    />
  )
}

/** concurrency, breaker and record, which every type has. */
export function CommonFields({ config, set, error }: FieldsProps) {
  const lane =
    typeof config.concurrency === 'object' && config.concurrency !== null
      ? (config.concurrency as { limit?: unknown; onLimit?: unknown })
      : null
  const change = (part: object) => set({ concurrency: { ...lane, ...part } })
  return (
    <section className={classes.box} aria-label={commonFieldsText.limitsAndRecording}>
      <Switch
        label={commonFieldsText.limitConcurrentRuns}
        aria-label={commonFieldsText.limitConcurrentRuns}
        description={commonFieldsText.queuedAndPausedRunsCountToo}
        checked={lane !== null}
        onChange={(event) =>
          set({ concurrency: event.currentTarget.checked ? { limit: 1, onLimit: 'queue' } : undefined })
        }
        error={fault(error, 'concurrency')}
      />
      {lane && (
        <>
          <NumberInput
            label={commonFieldsText.maximum}
            description={commonFieldsText.n1To1000Runs}
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
            label={commonFieldsText.whenTheLimitIsReached}
            value={typeof lane.onLimit === 'string' ? lane.onLimit : 'queue'}
            onChange={(onLimit) => change({ onLimit })}
            error={fault(error, 'concurrency', 'onLimit')}
          >
            <Stack gap="xs" mt="xs">
              <Radio
                value="queue"
                label={commonFieldsText.queueTheRun}
                description={commonFieldsText.upTo1000RunsAre}
              />
              <Radio
                value="skip"
                label={commonFieldsText.skipTheRun}
                description={commonFieldsText.theLedgerRecordsItAsSkipped}
              />
              <Radio
                value="cancel-running"
                label={commonFieldsText.cancelTheOldestRun}
                description={commonFieldsText.theNewestRunAlwaysStarts}
              />
            </Stack>
          </Radio.Group>
        </>
      )}
      <Switch
        label={commonFieldsText.pauseAfter20FailedRunsIn}
        aria-label={commonFieldsText.pauseAfter20FailedRunsIn}
        description={commonFieldsText.stopsABrokenTriggerTheLedger}
        checked={config.breaker !== false}
        onChange={(event) => set({ breaker: event.currentTarget.checked ? undefined : false })}
        error={fault(error, 'breaker')}
      />
      {config.breaker === false && (
        <Text size="sm" c="dimmed">
          {commonFieldsText.theTriggerStaysActiveEvenIf}
        </Text>
      )}
      <Switch
        label={commonFieldsText.recordTraffic}
        aria-label={commonFieldsText.recordTraffic}
        description={commonFieldsText.storesRequestsResponsesAnd}
        checked={config.record === true}
        onChange={(event) => set({ record: event.currentTarget.checked ? true : undefined })}
        error={fault(error, 'record')}
      />
    </section>
  )
}
