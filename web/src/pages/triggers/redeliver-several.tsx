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
import { ErrorNote, showCount } from '../../parts'
import { localZone } from './zone'
import { fromField, timeOfId, toField } from './ledger-filters'
import { dayAndTime } from './line-labels'
import classes from './triggers.module.css'
import type { Trigger } from './types'
import { useRefresh } from './use-triggers'

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
  { value: 'refused', label: 'What was refused' },
  { value: 'failed', label: 'What started a run that failed' },
  { value: 'skipped', label: 'What was skipped' },
  { value: 'coalesced', label: 'What a later tick stood for' },
  { value: 'duplicate', label: 'Duplicates' },
  { value: 'started', label: 'Everything that started a run' },
]

type Props = { trigger: Trigger; opened: boolean; onClose: () => void }

/** Delivers many again: first it counts them, then a person says go. */
export function RedeliverSeveral({ trigger, opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Deliver several again" size="lg">
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
          Each is decided anew, by the trigger as it is now, the oldest first. What still does not fit is refused again.
        </Text>
        <NativeSelect
          label="Which"
          data={kinds}
          value={kind}
          onChange={(event) => change(setKind)(event.currentTarget.value)}
          error={issueFor(count.error, 'decision')}
        />
        <div className={classes.row}>
          <TextInput
            type="datetime-local"
            label="Since"
            value={from}
            onChange={(event) => change(setFrom)(event.currentTarget.value)}
            error={issueFor(count.error, 'from')}
            required
            withAsterisk={false}
          />
          <TextInput
            type="datetime-local"
            label="Until (may be empty)"
            value={to}
            onChange={(event) => change(setTo)(event.currentTarget.value)}
            error={issueFor(count.error, 'to')}
          />
        </div>
        <Checkbox
          label="Also what was delivered again before"
          description="Without this nothing runs twice, however often you press."
          checked={again}
          onChange={(event) => change(setAgain)(event.currentTarget.checked)}
        />
        <ErrorNote error={count.error ?? go.error} title={count.error ? 'They could not be counted' : 'It stopped'} />
        <div aria-live="polite">
          {count.data && !sum && (
            <Counted matched={matched} firings={count.data.firings ?? []} path={`/triggers/${trigger.id}`} />
          )}
          {sum && <Done sum={sum} />}
        </div>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          {!count.data ? (
            <Button type="submit" loading={count.isPending}>
              Count them
            </Button>
          ) : !sum ? (
            <Button
              disabled={matched === 0 || !trigger.is_active}
              loading={go.isPending}
              onClick={() => go.mutate(null)}
            >
              Deliver {matched.toLocaleString('en')} again
            </Button>
          ) : (
            sum.next !== null && (
              <Button loading={go.isPending} onClick={() => go.mutate(sum.next)}>
                Go on{sum.left > 0 ? ` with ${sum.left.toLocaleString('en')} more` : ''}
              </Button>
            )
          )}
        </Group>
        {!trigger.is_active && (
          <Text size="sm" c="dimmed">
            The trigger is switched off: switch it on first.
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
      <Alert color="petrol" title="There are none">
        <Text size="sm">Nothing in that time fits, or all of it was delivered again already.</Text>
      </Alert>
    )
  return (
    <Alert color="petrol" title={`${showCount(matched, 'firing')} would be delivered again`}>
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
          and {showCount(matched - Math.min(8, firings.length), 'other')}. They go in steps of a hundred.
        </Text>
      )}
    </Alert>
  )
}

function Done({ sum }: { sum: Sum }) {
  return (
    <Alert
      color={sum.refused.length > 0 || sum.stopped ? 'amber' : 'green'}
      title={`${showCount(sum.redelivered, 'run')} started${sum.refused.length > 0 ? `, ${sum.refused.length.toLocaleString('en')} refused again` : ''}`}
    >
      {sum.stopped && (
        <Text size="sm" mb={4}>
          It stopped: {sum.stopped}. What is left can go on from there.
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
                Run …{one.executionId!.slice(-8)}
              </Anchor>
            </List.Item>
          ))}
      </List>
    </Alert>
  )
}
