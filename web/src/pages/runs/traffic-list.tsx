import { Button, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { IconPlayerPlay, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { ErrorNote, useUrlStates } from '../../parts'
import { LazyRunDialog } from './lazy-run-dialog'
import { earlierInputs } from './run-inputs'
import { ExchangeRow } from './traffic-row'
import classes from './traffic.module.css'
import { isOf, outcomeOf } from './traffic-words'
import { isOver, ms, type Run } from './types'
import { useExchanges } from './use-exchanges'
import type { RunFacts } from './use-run-facts'
import { trafficListText } from '../../text/runs'
import { commonText } from '../../text/common'

type Props = { run: Run; facts: RunFacts }
const some = 100

/** The exchanges of a run, or how to record them next time. */
export function TrafficList({ run, facts }: Props) {
  const exchanges = useExchanges(run)
  const [{ traffic: step, calls }, set] = useUrlStates({ traffic: '', calls: '', step: '' })
  const [most, setMost] = useState(some)
  if (exchanges.isPending && exchanges.isLoading) return <Skeleton h={96} />
  if (!exchanges.data)
    return (
      <ErrorNote
        error={exchanges.error}
        title={trafficListText.couldNotLoadTheTraffic}
        onRetry={() => void exchanges.refetch()}
      />
    )
  const { recorded, exchanges: all } = exchanges.data
  const goTo = (address: string) => {
    set({ step: address })
    document.getElementById('run-steps')?.scrollIntoView()
  }
  if (!recorded) return <NotRecorded facts={facts} />
  const ofStep = step ? all.filter((one) => isOf(one, step)) : all
  const failed = ofStep.filter((one) => outcomeOf(one).failed)
  const shown = calls === 'failed' ? failed : ofStep
  if (all.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {isOver(run.status) ? trafficListText.thisRecordedRunContactedNo : trafficListText.thisRunIsBeingRecordedIt}
      </Text>
    )
  return (
    <>
      <div className={classes.tools}>
        <Text size="sm" c="dimmed" role="status">
          {trafficListText.exchangesCredentialsAreLeftOut(shown.length, step ? trafficListText.of(step) : '')}
        </Text>
        <Group gap="xs">
          {step && (
            <Button
              variant="default"
              size="compact-sm"
              leftSection={<IconX size={14} aria-hidden />}
              onClick={() => set({ traffic: '' })}
            >
              {trafficListText.showAllSteps}
            </Button>
          )}
          {(failed.length > 0 || calls === 'failed') && (
            <SegmentedControl
              size="xs"
              aria-label={trafficListText.exchangesShown}
              value={calls}
              onChange={(value) => set({ calls: value })}
              data={[
                { value: '', label: commonText.all },
                { value: 'failed', label: trafficListText.failed(failed.length.toLocaleString('en')) },
              ]}
            />
          )}
        </Group>
      </div>
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          {calls === 'failed' ? trafficListText.noFailedExchanges : trafficListText.thisStepContactedNoOther}
        </Text>
      ) : (
        <ol className={classes.list} aria-label={trafficListText.exchangesOldestFirst}>
          {shown.slice(0, most).map((one, index) => (
            <ExchangeRow
              key={`${one.at} ${one.nodeId} ${one.attempt} ${index}`}
              exchange={one}
              start={ms(run.startTime)}
              name={nameFor(run, one.nodeId)}
              onStep={goTo}
            />
          ))}
        </ol>
      )}
      {shown.length > most && (
        <Button mt="sm" variant="default" onClick={() => setMost(most + some)}>
          {trafficListText.showMoreLeft((shown.length - most).toLocaleString('en'))}
        </Button>
      )}
    </>
  )
}

function nameFor(run: Run, address: string | undefined): string {
  return run.steps.find((step) => step.nodeId === address)?.title || address || ''
}

function NotRecorded({ facts: { blueprint, record } }: Pick<Props, 'facts'>) {
  const [asking, setAsking] = useState(false)
  const input = record ? earlierInputs([record])[0]?.text : undefined
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm" c="dimmed" maw={720}>
        {trafficListText.thisRunWasNotRecordedTurn}
      </Text>
      {blueprint && (
        <>
          <Button
            variant="default"
            leftSection={<IconPlayerPlay size={17} aria-hidden />}
            onClick={() => setAsking(true)}
          >
            {trafficListText.recordANewRun}
          </Button>
          <LazyRunDialog
            blueprintId={asking ? blueprint.id : undefined}
            onClose={() => setAsking(false)}
            start={{ record: true, variables: record?.inputVariables, input }}
          />
        </>
      )}
    </Stack>
  )
}
