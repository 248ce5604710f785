import { Alert, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconRefresh, IconSend } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { now, serverNow } from '../../api/clock'
import { parseJson } from '../../api/json'
import { useServerInfo } from '../../api/server-info'
import { ErrorNote, JsonInput } from '../../parts'
import { useNow } from '../../parts/time'
import { CodeBlock } from './code-block'
import { curlOf, type Headers, sampleBody, signedHeaders, signsTime } from './signature'
import { textOf, type Trigger } from './types'
import classes from './triggers.module.css'
import { useRefresh } from './use-triggers'
import { testDeliveryText } from '../../text/triggers'

type Answer = { status: number; text: string; executionId?: string; duplicate: boolean }

/** A body, the command that sends it signed, and a button that sends it from here. */
export function TestDelivery({ trigger, url }: { trigger: Trigger; url: string }) {
  const [preset, secret] = [textOf(trigger.config, 'preset'), textOf(trigger.config, 'secret')]
  const [id, setId] = useState(newId)
  const [body, setBody] = useState(() => sampleBody(preset, id))
  useServerInfo()
  const tick = useNow()
  const refresh = useRefresh()
  const seconds = Math.floor((tick + serverNow() - now()) / 1000)
  const headers = useQuery({
    queryKey: ['signature', trigger.id, preset, secret, body, seconds, id],
    queryFn: () => signedHeaders({ preset, secret, body, seconds, id }),
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0, // signatures of a secret are not cached
  })
  const send = useMutation({
    mutationFn: async () =>
      deliver(
        trigger.id,
        await signedHeaders({ preset, secret, body, seconds: Math.floor(serverNow() / 1000), id }),
        body,
      ),
    onSettled: refresh,
  })
  const renew = () => {
    const next = newId()
    setId(next)
    setBody(sampleBody(preset, next))
  }
  return (
    <section className={classes.box} aria-label={testDeliveryText.sendADelivery}>
      <Text size="sm">
        {secret ? testDeliveryText.theSignatureIsComputedHereOver : testDeliveryText.thisTriggerHasNoSecretAnyone}
      </Text>
      <JsonInput label={testDeliveryText.body} value={body} onChange={setBody} maxRows={14} />
      <Group gap="xs">
        <Button
          leftSection={<IconSend size={17} aria-hidden />}
          loading={send.isPending}
          onClick={() => send.mutate()}
          disabled={!trigger.is_active}
        >
          {testDeliveryText.sendTestDelivery}
        </Button>
        <Button variant="default" leftSection={<IconRefresh size={17} aria-hidden />} onClick={renew}>
          {testDeliveryText.nextSample}
        </Button>
      </Group>
      {!trigger.is_active && (
        <Text size="sm" c="dimmed">
          {testDeliveryText.theTriggerIsPausedAndWould}
        </Text>
      )}
      <ErrorNote error={send.error} title={testDeliveryText.couldNotSendTheDelivery} />
      {send.data && <Answered answer={send.data} />}
      <Stack gap={6}>
        <Title order={2} size="h3">
          {testDeliveryText.curl}
        </Title>
        <CodeBlock label={testDeliveryText.curlCommand} text={curlOf(url, headers.data ?? [], body)} />
        {secret && signsTime(preset) && (
          <Text size="sm" c="dimmed">
            {testDeliveryText.theSignatureIncludesTheTimeSo}
          </Text>
        )}
      </Stack>
    </section>
  )
}

function Answered({ answer: { status, text, executionId, duplicate } }: { answer: Answer }) {
  const good = status >= 200 && status < 300
  return (
    <Alert
      color={good ? 'green' : 'red'}
      role="status"
      title={testDeliveryText.response(status, duplicate ? testDeliveryText.duplicateDeliveryNoNewRun : '')}
    >
      {executionId && (
        <Text size="sm" mb={6}>
          <Anchor component={Link} href={`/runs/${executionId}`} inherit>
            {testDeliveryText.viewRun}
          </Anchor>
        </Text>
      )}
      {text && (
        <CodeBlock label={testDeliveryText.responseBody} text={text.length > 4000 ? `${text.slice(0, 4000)}…` : text} />
      )}
    </Alert>
  )
}

// To this server, whatever its public address is.
async function deliver(triggerId: string, headers: Headers, body: string): Promise<Answer> {
  const answer = await fetch(`/webhooks/blueprint/${triggerId}`, {
    method: 'POST',
    headers: [['Content-Type', 'application/json'], ...headers],
    body,
    credentials: 'omit',
  })
  const text = await answer.text()
  let executionId: string | undefined
  let fired = false
  try {
    const value = parseJson(text) as { executionId?: unknown; firingId?: unknown } | null
    fired = typeof value?.firingId === 'string'
    if (fired && typeof value?.executionId === 'string') executionId = value.executionId
  } catch {
    // the response of a run may be anything
  }
  return {
    status: answer.status,
    text,
    executionId,
    duplicate: answer.status === 200 && fired && executionId !== undefined,
  }
}

function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
