import { Anchor, Stack, Text, Title } from '@mantine/core'
import type { ComponentType } from 'react'
import { Link } from 'wouter'
import { show } from '../../api/json'
import { CopyField } from '../../parts'
import { CodeBlock } from './code-block'
import { NoMail } from './email-fields'
import { FireForm } from './fire-dialog'
import { kinds } from './kinds'
import { NextRuns } from './next-runs'
import { usePreview } from './schedule-fields'
import { quote } from './signature'
import { TestDelivery } from './test-delivery'
import classes from './triggers.module.css'
import { textOf, type Trigger, type TriggerType } from './types'

type Part = ComponentType<{ trigger: Trigger }>

const parts: Partial<Record<TriggerType, Part>> = {
  scheduled: Schedule,
  webhook: ({ trigger }) => trigger.url && <TestDelivery trigger={trigger} url={trigger.url} />,
  api: ({ trigger }) => trigger.url && <Call trigger={trigger} url={trigger.url} />,
  slack: ({ trigger }) => trigger.url && <Slack url={trigger.url} eventType={textOf(trigger.config, 'eventType')} />,
  email: ({ trigger }) => <Mail address={textOf(trigger.config, 'address')} />,
  event: ({ trigger }) => <Raise event={textOf(trigger.config, 'event')} />,
}

/** How a trigger is reached, by its type; a type without a part of its own is fired here. */
export function UseIt({ trigger }: { trigger: Trigger }) {
  const Part = parts[trigger.trigger_type]
  if (Part) return <Part trigger={trigger} />
  return trigger.can_manage ? (
    <section className={classes.box} aria-label="Fire it">
      <FireForm trigger={trigger} />
    </section>
  ) : null
}

function Schedule({ trigger }: { trigger: Trigger }) {
  const [cron, zone] = [textOf(trigger.config, 'cron'), textOf(trigger.config, 'timezone')]
  const preview = usePreview(cron, zone)
  return (
    <section className={classes.box} aria-label="Next runs">
      {!trigger.is_active && (
        <Text size="sm" c="dimmed">
          It is switched off: these are the runs that it would have.
        </Text>
      )}
      <NextRuns ticks={preview.data} error={preview.error} cron={cron} zone={zone} />
    </section>
  )
}

function Call({ trigger, url }: { trigger: Trigger; url: string }) {
  const body = kinds.api.sample(trigger.config)
  const curl = [
    `curl -X POST ${quote(url)}`,
    '-H "Authorization: Bearer $BLUEPRINTD_KEY"',
    `-H ${quote('Content-Type: application/json')}`,
    `-H "Idempotency-Key: $(uuidgen)"`,
    `--data-binary ${quote(show(body, 0))}`,
  ].join(' \\\n  ')
  const fetchText = `const answer = await fetch(${JSON.stringify(url)}, {\n  method: 'POST',\n  headers: {\n    'Authorization': \`Bearer \${process.env.BLUEPRINTD_KEY}\`,\n    'Content-Type': 'application/json',\n    'Idempotency-Key': crypto.randomUUID(),\n  },\n  body: JSON.stringify(${show(body).replaceAll('\n', '\n  ')}),\n})\nconst { executionId } = await answer.json()`
  return (
    <section className={classes.box} aria-label="Call it">
      <Text size="sm">
        The body becomes the input of the run. The answer is 202 with the id of the run; the same Idempotency-Key again
        is answered with that id and starts nothing. You need a key.
      </Text>
      <Anchor component={Link} href="/settings/keys" size="sm">
        Make a key
      </Anchor>
      <Stack gap={6}>
        <Title order={2} size="h3">
          curl
        </Title>
        <CodeBlock label="curl command" text={curl} />
      </Stack>
      <Stack gap={6}>
        <Title order={2} size="h3">
          JavaScript
        </Title>
        <CodeBlock label="JavaScript sample" text={fetchText} />
      </Stack>
      <Text size="sm" c="dimmed">
        Agents find it as a tool at /mcp while it is active and the blueprint is published.
      </Text>
    </section>
  )
}

function Slack({ url, eventType }: { url: string; eventType: string }) {
  return (
    <section className={classes.box} aria-label="Connect Slack">
      <ol className={classes.steps}>
        <li>
          Open <b>api.slack.com/apps</b>, choose your app, and there Event Subscriptions. Switch Enable Events on.
        </li>
        <li>
          Paste this as the Request URL. Slack asks it at once for a proof, and the trigger answers.
          <div style={{ marginTop: 6 }}>
            <CopyField label="Request URL" hideLabel value={url} />
          </div>
        </li>
        <li>
          Under Subscribe to bot events add <b>{eventType || 'the events that you want'}</b>, and save.
        </li>
        <li>
          Install the app to the workspace again if Slack asks for it, and invite the bot to the channel:{' '}
          <code>/invite @your-app</code>.
        </li>
        <li>Do something in Slack, and look at the ledger here.</li>
      </ol>
      <Text size="sm" c="dimmed">
        Slack must be able to reach the address over https. A row that says that the signature does not match means that
        the signing secret is that of another app.
      </Text>
    </section>
  )
}

function Mail({ address }: { address: string }) {
  return (
    <Stack gap="md">
      <NoMail />
      <section className={classes.box} aria-label="Write to it">
        <Text size="sm">
          {address ? `Send a message to ${address}, or forward or redirect mail to it. ` : ''}Each message starts one
          run; the same message twice starts one only. Attachments are files of the run.
        </Text>
        <Text size="sm" c="dimmed">
          What a filter leaves out is accepted from the sender and stands in the ledger as skipped. Mail to a trigger
          that is switched off is refused in the dialogue of the mail servers, so that its sender is told.
        </Text>
      </section>
    </Stack>
  )
}

function Raise({ event }: { event: string }) {
  const name = event.startsWith('custom.') ? event.slice(7) : ''
  return (
    <section className={classes.box} aria-label="Raise it">
      {name ? (
        <>
          <Text size="sm">Any blueprint of the organization raises it with this node:</Text>
          <CodeBlock
            label="emit-event node"
            text={show({ id: 'tell', type: 'emit-event', title: 'Tell', config: { name, data: { hello: 'world' } } })}
          />
        </>
      ) : (
        <Text size="sm">The server raises {event} by itself. It is told to each trigger once, also after a crash.</Text>
      )}
      <Text size="sm" c="dimmed">
        A blueprint does not hear its own runs, and chains of events end after 16.
      </Text>
    </section>
  )
}
