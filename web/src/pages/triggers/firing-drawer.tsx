import { Alert, Anchor, Drawer, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client'
import { confirm, ErrorNote, JsonView, KeyValue, showBytes, StatusBadge, Time, WithTimes } from '../../parts'
import type { Question } from '../../parts/confirm'
import { Again, type Ask, type ToldProps } from './again'
import { Body } from './body'
import classes from './triggers.module.css'
import type { Trigger } from './types'
import { firingDrawerText } from '../../text/triggers'
import { commonText } from '../../text/common'

type Props = {
  id: string
  trigger: Trigger
  onOpen: (id: string) => void
  onClose: () => void
  /** Called once it is closed. */ onClosed: () => void
}

/** The outcome of one delivery with its reason and content, and the button to deliver it again. */
export function FiringDrawer({ id, trigger, onOpen, onClose, onClosed }: Props) {
  const [last, setLast] = useState(id) // shown while the drawer closes
  const [asking, setAsking] = useState(false) // while a question is in front of the drawer, Escape and Tab belong to it
  if (id && id !== last) setLast(id)
  const ask = async (question: Question) => {
    setAsking(true)
    const yes = await confirm(question)
    setTimeout(() => setAsking(false)) // not before the key that answered the question is released
    return yes
  }
  return (
    <Drawer
      opened={id !== ''}
      onClose={onClose}
      closeOnEscape={!asking}
      trapFocus={!asking}
      position="right"
      size="lg"
      title={firingDrawerText.outcome}
      returnFocus={false}
      onExitTransitionEnd={onClosed}
    >
      {last && <Story key={last} id={last} trigger={trigger} onOpen={onOpen} ask={ask} />}
    </Drawer>
  )
}

function Story({ id, trigger, onOpen, ask }: Omit<Props, 'onClose' | 'onClosed'> & { ask: Ask }) {
  const story = useQuery({
    queryKey: ['trigger', trigger.id, 'firing', id],
    queryFn: () => api.blueprintTriggers.explain.query({ firingId: id }),
    retry: false,
  })
  if (story.error && !story.data)
    return (
      <ErrorNote
        error={story.error}
        title={firingDrawerText.noExplanationAvailable}
        onRetry={() => void story.refetch()}
      />
    )
  if (!story.data)
    return (
      <Stack>
        <Skeleton h={60} />
        <Skeleton h={160} />
        <Skeleton h={200} />
      </Stack>
    )
  return <Told story={story.data} trigger={trigger} onOpen={onOpen} ask={ask} />
}

function Told({ story, trigger, onOpen, ask }: ToldProps) {
  const { firing, summary, details, delivery, facts, run, redeliveries, next } = story
  const first = typeof facts.of === 'string' ? facts.of : undefined
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group gap="xs">
          <StatusBadge status={firing.decision} />
          <Text size="sm" c="dimmed">
            <Time at={firing.receivedAt} absolute past />
          </Text>
        </Group>
        <Text style={{ overflowWrap: 'anywhere' }}>{sentence(summary)}</Text>
        {run && (
          <Group gap="xs">
            <Anchor component={Link} href={`/runs/${run.executionId}`} size="sm">
              {firingDrawerText.viewRun}
            </Anchor>
            <StatusBadge status={run.status} size="sm" />
            {run.error && (
              <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {run.error}
              </Text>
            )}
          </Group>
        )}
      </Stack>
      {next && (
        <Alert
          color={firing.decision === 'refused' ? 'amber' : 'petrol'}
          icon={<IconArrowRight size={20} aria-hidden />}
          title={firingDrawerText.nextSteps}
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {sentence(next)}
          </Text>
          {first && (
            <button
              type="button"
              className={classes.toggle}
              style={{ marginTop: 6, fontSize: 'var(--mantine-font-size-sm)' }}
              onClick={() => onOpen(first)}
            >
              {firingDrawerText.openDelivery}
            </button>
          )}
        </Alert>
      )}
      <Again story={story} trigger={trigger} onOpen={onOpen} ask={ask} />
      <Part title={commonText.details}>
        <dl className={classes.facts}>
          {details.map(({ label, text }, index) => (
            <Fragment key={index}>
              <dt>{label}</dt>
              <dd>
                <WithTimes text={text} />
              </dd>
            </Fragment>
          ))}
          {firing.key && (
            <>
              <dt>{firingDrawerText.key}</dt>
              <dd>
                <code>{firing.key}</code>
              </dd>
            </>
          )}
          <dt>{firingDrawerText.firing}</dt>
          <dd>
            <code>{firing.id}</code>
          </dd>
        </dl>
      </Part>
      {redeliveries.length > 0 && (
        <Part title={firingDrawerText.deliveredAgain}>
          <Stack gap={6}>
            {redeliveries.map((one) => (
              <Group key={one.firingId} gap="xs">
                <StatusBadge status={one.decision} size="sm" />
                <button type="button" className={classes.toggle} onClick={() => onOpen(one.firingId)}>
                  <Time at={one.receivedAt} past />
                </button>
                {one.executionId ? (
                  <Anchor component={Link} href={`/runs/${one.executionId}`} size="sm">
                    {firingDrawerText.run(one.executionId.slice(-8))}
                  </Anchor>
                ) : (
                  <Text size="sm" c="dimmed">
                    {one.reason}
                  </Text>
                )}
              </Group>
            ))}
          </Stack>
        </Part>
      )}
      {delivery && (
        <>
          {Object.keys(delivery.headers).length > 0 && (
            <Part title={firingDrawerText.headers}>
              <KeyValue pairs={Object.entries(delivery.headers).map(([name, value]) => [name, <code>{value}</code>])} />
            </Part>
          )}
          <Part title={firingDrawerText.body}>
            {delivery.body !== null ? (
              <Body text={delivery.body} />
            ) : (
              <Text size="sm" c="dimmed">
                {first ? (
                  <>
                    {firingDrawerText.storedWith}{' '}
                    <button type="button" className={classes.toggle} onClick={() => onOpen(first)}>
                      {firingDrawerText.theOriginalDelivery}
                    </button>
                    .
                  </>
                ) : delivery.kept || delivery.size === 0 ? (
                  firingDrawerText.none
                ) : (
                  firingDrawerText.notStored
                )}
              </Text>
            )}
            {delivery.bodyTruncated && (
              <Text size="sm" c="dimmed" mt={6}>
                {firingDrawerText.truncatedTheFullSizeIs(showBytes(delivery.size))}
              </Text>
            )}
          </Part>
        </>
      )}
      {Object.keys(facts).length > 0 && (
        <Part title={firingDrawerText.rawData}>
          <JsonView value={facts} label={firingDrawerText.rawData} plain />
        </Part>
      )}
    </Stack>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={3} mb={8}>
        {title}
      </Title>
      {children}
    </section>
  )
}

function sentence(text: string): string {
  const upper = /^\S+\.\S/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1) // keep a name such as blueprintTriggers.fire
  return /[.:!?…]$/.test(upper) ? upper : `${upper}.`
}
