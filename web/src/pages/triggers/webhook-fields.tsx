import { Alert, NativeSelect, Radio, Stack, Text, Textarea } from '@mantine/core'
import { IconLockOpen } from '@tabler/icons-react'
import { useRef } from 'react'
import { fault, type FieldsProps } from './fields'
import { SchemaField } from './schema-field'
import { SecretField } from './secret-field'
import { type Config, textOf } from './types'
import classes from './triggers.module.css'
import { webhookFieldsText } from '../../text/triggers'
import { commonText } from '../../text/common'

const senders: { value: string; label: string; text: string }[] = [
  {
    value: '',
    label: webhookFieldsText.hmacSha256AnySender,
    text: webhookFieldsText.xWebhookSignatureXSignatureOr,
  },
  {
    value: 'github',
    label: webhookFieldsText.gitHub,
    text: webhookFieldsText.xHubSignature256InThe,
  },
  {
    value: 'stripe',
    label: webhookFieldsText.stripe,
    text: webhookFieldsText.stripeSignatureUseTheSigning,
  },
  {
    value: 'slack',
    label: webhookFieldsText.slack,
    text: webhookFieldsText.xSlackSignatureForExampleFor,
  },
  {
    value: 'standard',
    label: webhookFieldsText.standardWebhooks,
    text: webhookFieldsText.webhookIdWebhookTimestampAnd,
  },
  {
    value: 'form',
    label: webhookFieldsText.peopleWithAForm,
    text: webhookFieldsText.browsersGetAForm,
  },
]

const exampleForm = {
  type: 'object',
  title: webhookFieldsText.exampleTitle,
  properties: {
    name: { type: 'string', title: webhookFieldsText.exampleName },
    email: { type: 'string', format: 'email', title: webhookFieldsText.exampleEmail },
    message: { type: 'string', format: 'textarea', title: webhookFieldsText.exampleMessage },
  },
  required: ['name', 'email'],
  'x-order': ['name', 'email', 'message'],
}

/** secret, preset, form, thanks and respond. */
export function WebhookFields({ config, set, error, stored }: FieldsProps) {
  const [secret, preset] = [textOf(config, 'secret'), textOf(config, 'preset')]
  const asks = config.form !== undefined && config.form !== null
  const sender = senders.find(({ value }) => value === (asks ? 'form' : preset)) ?? senders[0]!
  // What was entered stays when another sender is chosen and then this one again.
  const kept = useRef<Config>({ form: exampleForm })
  const choose = (next: string) => {
    if ((next === 'form') === asks) return set({ preset: next || undefined })
    const [form, thanks, signed] = ['form', 'thanks', 'secret'].map((key) => config[key] ?? kept.current[key])
    kept.current = { form, thanks, secret: signed }
    if (next === 'form') set({ form, thanks, secret: undefined, preset: undefined })
    else set({ secret: signed, preset: next || undefined, form: undefined, thanks: undefined })
  }
  return (
    <>
      <section className={classes.box} aria-label={commonText.sender}>
        <NativeSelect
          label={commonText.sender}
          description={sender.text}
          data={senders.map(({ value, label }) => ({ value, label }))}
          value={sender.value}
          onChange={(event) => choose(event.currentTarget.value)}
          error={fault(error, 'preset')}
        />
        {asks ? (
          <>
            <SchemaField
              label={webhookFieldsText.form}
              description={webhookFieldsText.aJsonSchemaWhoseProperties}
              value={config.form}
              example={exampleForm}
              onChange={(form) => set({ form: form ?? '' })}
              error={fault(error, 'form')}
            />
            <Textarea
              label={webhookFieldsText.afterSending}
              description={webhookFieldsText.whatThePageSays}
              placeholder={webhookFieldsText.yourAnswersWereReceived}
              value={textOf(config, 'thanks')}
              onChange={(event) => set({ thanks: event.currentTarget.value || undefined })}
              error={fault(error, 'thanks')}
              autosize
              minRows={2}
              maxLength={2000}
            />
          </>
        ) : (
          <SecretField
            label={webhookFieldsText.secret}
            value={secret}
            onChange={(next) => set({ secret: next })}
            error={fault(error, 'secret')}
            generate={preset}
            description={
              stored
                ? webhookFieldsText.aNewSecretAppliesImmediatelyTo
                : webhookFieldsText.sharedBySenderAndTriggerProves
            }
          />
        )}
        {!asks && !secret && !preset && (
          <Alert color="amber" icon={<IconLockOpen size={20} aria-hidden />}>
            <Text size="sm">{webhookFieldsText.withoutASecretAnyoneWhoKnows}</Text>
          </Alert>
        )}
      </section>
      <section className={classes.box} aria-label={commonText.response}>
        <Radio.Group
          label={commonText.response}
          value={textOf(config, 'respond') || 'accept'}
          onChange={(next) => set({ respond: next === 'accept' ? undefined : next })}
          error={fault(error, 'respond')}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="accept"
              label={webhookFieldsText.acceptImmediately}
              description={webhookFieldsText.n202WithTheRunIdAs}
            />
            <Radio
              value="wait"
              label={webhookFieldsText.waitForTheRun}
              description={webhookFieldsText.theSenderGetsTheResponseOf}
            />
          </Stack>
        </Radio.Group>
      </section>
    </>
  )
}
