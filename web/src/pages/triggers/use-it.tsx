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
import { itText } from '../../text/triggers'
import { commonText } from '../../text/common'
import { useItText } from '../../text/triggers'

type Part = ComponentType<{ trigger: Trigger }>

const parts: Partial<Record<TriggerType, Part>> = {
  scheduled: Schedule,
  webhook: ({ trigger }) => trigger.url && <TestDelivery trigger={trigger} url={trigger.url} />,
  api: ({ trigger }) => trigger.url && <Call trigger={trigger} url={trigger.url} />,
  slack: ({ trigger }) => trigger.url && <Slack url={trigger.url} eventType={textOf(trigger.config, 'eventType')} />,
  email: ({ trigger }) => <Mail address={textOf(trigger.config, 'address')} />,
  event: ({ trigger }) => <Emit event={textOf(trigger.config, 'event')} />,
}

/** How to use a trigger, by its type; a type without its own section is fired here. */
export function UseIt({ trigger }: { trigger: Trigger }) {
  const Part = parts[trigger.trigger_type]
  if (Part) return <Part trigger={trigger} />
  return trigger.can_manage ? (
    <section className={classes.box} aria-label={itText.fireTheTrigger}>
      <FireForm trigger={trigger} />
    </section>
  ) : null
}

function Schedule({ trigger }: { trigger: Trigger }) {
  const [cron, zone] = [textOf(trigger.config, 'cron'), textOf(trigger.config, 'timezone')]
  const preview = usePreview(cron, zone)
  return (
    <section className={classes.box} aria-label={itText.nextRuns}>
      {!trigger.is_active && (
        <Text size="sm" c="dimmed">
          {itText.theTriggerIsPausedTheseRuns}
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
    <section className={classes.box} aria-label={itText.callTheApi}>
      <Text size="sm">{itText.theBodyBecomesTheInputOf}</Text>
      <Anchor component={Link} href="/settings/keys" size="sm">
        {itText.createApiKey}
      </Anchor>
      <Stack gap={6}>
        <Title order={2} size="h3">
          {itText.curl}
        </Title>
        <CodeBlock label={itText.curlCommand} text={curl} />
      </Stack>
      <Stack gap={6}>
        <Title order={2} size="h3">
          {itText.javascript}
        </Title>
        <CodeBlock label={itText.javascriptSample} text={fetchText} />
      </Stack>
      <Text size="sm" c="dimmed">
        {itText.agentsFindItAsATool}
      </Text>
    </section>
  )
}

function Slack({ url, eventType }: { url: string; eventType: string }) {
  return (
    <section className={classes.box} aria-label={itText.connectSlack}>
      <ol className={classes.steps}>
        <li>
          {commonText.open} <b>{itText.apiSlackComApps}</b>
          {itText.chooseYourAppThenEvent}
        </li>
        <li>
          {itText.pasteThisAsTheRequestUrl}
          <div style={{ marginTop: 6 }}>
            <CopyField label={itText.requestUrl} hideLabel value={url} />
          </div>
        </li>
        <li>
          {itText.underSubscribeToBotEventsAdd} <b>{eventType || itText.theEventsYouWant}</b>
          {itText.thenSave}
        </li>
        <li>
          {itText.reinstallTheAppIfSlackAsks} <code>{itText.inviteYourApp}</code>.
        </li>
        <li>{itText.triggerAnEventInSlackAnd}</li>
      </ol>
      <Text size="sm" c="dimmed">
        {itText.slackMustBeAbleToReach}
      </Text>
    </section>
  )
}

function Mail({ address }: { address: string }) {
  return (
    <Stack gap="md">
      <NoMail />
      <section className={classes.box} aria-label={itText.sendMail}>
        <Text size="sm">{itText.eachMessageStartsOneRunA(address ? itText.sendAMessageToOrForward(address) : '')}</Text>
        <Text size="sm" c="dimmed">
          {itText.filteredMailIsAcceptedAnd}
        </Text>
      </section>
    </Stack>
  )
}

function Emit({ event }: { event: string }) {
  const name = event.startsWith('custom.') ? event.slice(7) : ''
  return (
    <section className={classes.box} aria-label={itText.emitTheEvent}>
      {name ? (
        <>
          <Text size="sm">{itText.anyBlueprintOfTheOrganization}</Text>
          <CodeBlock
            label={itText.emitEventNode}
            text={show({
              id: 'notify',
              type: 'emit-event',
              title: useItText.sampleTitle,
              config: { name, data: { hello: 'world' } },
            })}
          />
        </>
      ) : (
        <Text size="sm">{itText.theServerEmitsEachTrigger(event)}</Text>
      )}
      <Text size="sm" c="dimmed">
        {itText.aBlueprintDoesNotReceiveEvents}
      </Text>
    </section>
  )
}
