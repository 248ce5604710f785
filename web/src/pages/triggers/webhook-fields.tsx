import { Alert, NativeSelect, Radio, Stack, Text } from '@mantine/core'
import { IconLockOpen } from '@tabler/icons-react'
import { fault, type FieldsProps } from './fields'
import { SecretField } from './secret-field'
import { textOf } from './types'
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
]

/** secret, preset and respond. */
export function WebhookFields({ config, set, error, stored }: FieldsProps) {
  const [secret, preset] = [textOf(config, 'secret'), textOf(config, 'preset')]
  const sender = senders.find(({ value }) => value === preset) ?? senders[0]!
  return (
    <>
      <section className={classes.box} aria-label={commonText.sender}>
        <NativeSelect
          label={commonText.sender}
          description={sender.text}
          data={senders.map(({ value, label }) => ({ value, label }))}
          value={preset}
          onChange={(event) => set({ preset: event.currentTarget.value || undefined })}
          error={fault(error, 'preset')}
        />
        <SecretField
          label={webhookFieldsText.secret}
          value={secret}
          onChange={(next) => set({ secret: next })}
          error={fault(error, 'secret')}
          generate={preset}
          description={
            stored ? webhookFieldsText.aNewSecretAppliesImmediatelyTo : webhookFieldsText.sharedBySenderAndTriggerProves
          }
        />
        {!secret && !preset && (
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
