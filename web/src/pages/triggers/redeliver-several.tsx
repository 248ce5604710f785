import {
  Alert,
  Anchor,
  Button,
  Checkbox,
  Group,
  List,
  Modal,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { api, type Outputs } from '../../api/client'
import { now } from '../../api/clock'
import { issueFor } from '../../api/errors'
import { ErrorNote } from '../../parts'
import { localZone } from './zone'
import { fromField, timeOfId, toField } from './ledger-filters'
import { dayAndTime } from './line-labels'
import classes from './triggers.module.css'
import type { Trigger } from './types'
import { useRefresh } from './use-triggers'
import { redeliverSeveralText } from '../../text/triggers'
import { commonText } from '../../text/common'

type Answer = Outputs['blueprintTriggers']['redeliver']
type Sum = {
  redelivered: number
  refused: NonNullable<Answer['refused']>
  firings: NonNullable<Answer['firings']>
  left: number
  next: string | null
  stopped?: string
}

const kinds = [
  { value: 'refused', label: redeliverSeveralText.refused },
  { value: 'failed', label: redeliverSeveralText.startedARunThatFailed },
  { value: 'skipped', label: redeliverSeveralText.skipped },
  { value: 'coalesced', label: redeliverSeveralText.coalesced },
  { value: 'duplicate', label: redeliverSeveralText.duplicates },
  { value: 'started', label: redeliverSeveralText.startedARun },
]

type Props = { trigger: Trigger; opened: boolean; onClose: () => void }

/** Redelivers many firings: first it counts them, then asks for confirmation. */
export function RedeliverSeveral({ trigger, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={redeliverSeveralText.redeliverSeveral} size="lg">
      <Several trigger={trigger} onClose={onClose} />
    </Modal>
  )
}

function Several({ trigger, onClose }: Omit<Props, 'opened'>) {
  const [kind, setKind] = useState('refused')
  const [from, setFrom] = useState(() => toField(now() - 86_400_000))
  const [to, setTo] = useState('')
  const [again, setAgain] = useState(false)
  const [sum, setSum] = useState<Sum | null>(null)
  const refresh = useRefresh()
  const input = {
    triggerId: trigger.id,
    ...(kind === 'failed' ? { executionStatus: 'failed' as const } : { decision: kind as 'refused' }),
    ...(fromField(from) ? { from: fromField(from) } : {}),
    ...(fromField(to) ? { to: fromField(to) } : {}),
    ...(again ? { again } : {}),
  }
  const count = useMutation({ mutationFn: () => api.blueprintTriggers.redeliver.mutate({ ...input, dryRun: true }) })
  const go = useMutation({
    mutationFn: (after: string | null) =>
      api.blueprintTriggers.redeliver.mutate({ ...input, ...(after ? { after } : {}) }),
    onSuccess: (answer) => {
      setSum((before) => ({
        redelivered: (before?.redelivered ?? 0) + (answer.redelivered ?? 0),
        refused: [...(before?.refused ?? []), ...(answer.refused ?? [])],
        firings: [...(before?.firings ?? []), ...(answer.firings ?? [])],
        next: answer.next ?? null,
        left: Math.max(0, (answer.matched ?? 0) - (answer.redelivered ?? 0) - (answer.refused?.length ?? 0)),
        stopped: answer.stopped,
      }))
    },
    onSettled: refresh,
  })
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value)
      count.reset()
      go.reset()
      setSum(null)
    }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!count.data) count.mutate()
  }
  const matched = count.data?.matched ?? 0
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {redeliverSeveralText.eachDeliveryIsDecidedAgainWith}
        </Text>
        <NativeSelect
          label={redeliverSeveralText.deliveries}
          data={kinds}
          value={kind}
          onChange={(event) => change(setKind)(event.currentTarget.value)}
          error={issueFor(count.error, 'decision')}
        />
        <div className={classes.row}>
          <TextInput
            type="datetime-local"
            label={redeliverSeveralText.from}
            value={from}
            onChange={(event) => change(setFrom)(event.currentTarget.value)}
            error={issueFor(count.error, 'from')}
            required
            withAsterisk={false}
          />
          <TextInput
            type="datetime-local"
            label={redeliverSeveralText.untilOptional}
            value={to}
            onChange={(event) => change(setTo)(event.currentTarget.value)}
            error={issueFor(count.error, 'to')}
          />
        </div>
        <Checkbox
          label={redeliverSeveralText.includeDeliveriesThatWere}
          description={redeliverSeveralText.byDefaultNothingIsRedelivered}
          checked={again}
          onChange={(event) => change(setAgain)(event.currentTarget.checked)}
        />
        <ErrorNote
          error={count.error ?? go.error}
          title={count.error ? redeliverSeveralText.couldNotCountTheDeliveries : redeliverSeveralText.redeliveryStopped}
        />
        <div aria-live="polite">
          {count.data && !sum && (
            <Counted matched={matched} firings={count.data.firings ?? []} path={`/triggers/${trigger.id}`} />
          )}
          {sum && <Done sum={sum} />}
        </div>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.close}
          </Button>
          {!count.data ? (
            <Button type="submit" loading={count.isPending}>
              {redeliverSeveralText.count}
            </Button>
          ) : !sum ? (
            <Button
              disabled={matched === 0 || !trigger.is_active}
              loading={go.isPending}
              onClick={() => go.mutate(null)}
            >
              {redeliverSeveralText.redeliver(matched.toLocaleString('en'))}
            </Button>
          ) : (
            sum.next !== null && (
              <Button loading={go.isPending} onClick={() => go.mutate(sum.next)}>
                {redeliverSeveralText.continue(
                  sum.left > 0 ? redeliverSeveralText.withMore(sum.left.toLocaleString('en')) : '',
                )}
              </Button>
            )
          )}
        </Group>
        {!trigger.is_active && (
          <Text size="sm" c="dimmed">
            {redeliverSeveralText.theTriggerIsPausedActivateIt}
          </Text>
        )}
      </Stack>
    </form>
  )
}

function Counted({
  matched,
  firings,
  path,
}: {
  matched: number
  firings: NonNullable<Answer['firings']>
  path: string
}) {
  if (matched === 0)
    return (
      <Alert color="petrol" title={redeliverSeveralText.noMatchingDeliveries}>
        <Text size="sm">{redeliverSeveralText.noDeliveryMatchesOrAllWere}</Text>
      </Alert>
    )
  return (
    <Alert color="petrol" title={redeliverSeveralText.firingsToRedeliver(matched)}>
      <List size="sm" spacing={2}>
        {firings.slice(0, 8).map((one) => (
          <List.Item key={one.of}>
            <Anchor href={`${path}?firing=${encodeURIComponent(one.of)}`} target="_blank" rel="noreferrer" inherit>
              {dayAndTime(timeOfId(one.of), localZone())}
            </Anchor>
          </List.Item>
        ))}
      </List>
      {matched > 8 && (
        <Text size="sm" c="dimmed" mt={4}>
          {redeliverSeveralText.andOthersTheyAreSentIn(matched - Math.min(8, firings.length))}
        </Text>
      )}
    </Alert>
  )
}

function Done({ sum }: { sum: Sum }) {
  return (
    <Alert
      color={sum.refused.length > 0 || sum.stopped ? 'amber' : 'green'}
      title={redeliverSeveralText.runsStarted(
        sum.redelivered,
        sum.refused.length > 0 ? redeliverSeveralText.refusedAgain(sum.refused.length.toLocaleString('en')) : '',
      )}
    >
      {sum.stopped && (
        <Text size="sm" mb={4}>
          {redeliverSeveralText.stoppedYouCanContinueWithThe(sum.stopped)}
        </Text>
      )}
      <List size="sm" spacing={2}>
        {sum.refused.slice(0, 5).map((one) => (
          <List.Item key={one.firingId}>{one.reason}</List.Item>
        ))}
        {sum.firings
          .filter((one) => one.executionId)
          .slice(0, 8)
          .map((one) => (
            <List.Item key={one.of}>
              <Anchor component={Link} href={`/runs/${one.executionId}`} inherit>
                {redeliverSeveralText.run(one.executionId!.slice(-8))}
              </Anchor>
            </List.Item>
          ))}
      </List>
    </Alert>
  )
}
