import { Alert, NativeSelect, Radio, Stack, Text } from '@mantine/core'
import { IconLockOpen } from '@tabler/icons-react'
import { fault, type FieldsProps } from './fields'
import { SecretField } from './secret-field'
import { textOf } from './types'
import classes from './triggers.module.css'

const senders: { value: string; label: string; text: string }[] = [
  {
    value: '',
    label: 'Any sender with HMAC-SHA256',
    text: 'X-Webhook-Signature, X-Signature or X-Hub-Signature-256 with the hexadecimal HMAC-SHA256 of the body, or the headers of Standard Webhooks. All that are present must be right.',
  },
  {
    value: 'github',
    label: 'GitHub',
    text: 'X-Hub-Signature-256. Choose application/json in the settings of the webhook at GitHub, and paste the secret there. X-GitHub-Delivery is the id.',
  },
  {
    value: 'stripe',
    label: 'Stripe',
    text: 'Stripe-Signature. The secret is the signing secret of the endpoint, whsec_…, from the dashboard of Stripe. The id of the event keeps it from running twice.',
  },
  {
    value: 'slack',
    label: 'Slack',
    text: 'X-Slack-Signature, for slash commands as JSON and such. For events of a Slack app a trigger of type Slack knows more.',
  },
  {
    value: 'standard',
    label: 'Standard Webhooks',
    text: 'webhook-id, webhook-timestamp and webhook-signature, as Svix, OpenAI and others send them. The secret begins with whsec_.',
  },
]

/** secret, preset and respond. */
export function WebhookFields({ config, set, error, stored }: FieldsProps) {
  const [secret, preset] = [textOf(config, 'secret'), textOf(config, 'preset')]
  const sender = senders.find(({ value }) => value === preset) ?? senders[0]!
  return (
    <>
      <section className={classes.box} aria-label="Who may send">
        <NativeSelect
          label="Who sends"
          description={sender.text}
          data={senders.map(({ value, label }) => ({ value, label }))}
          value={preset}
          onChange={(event) => set({ preset: event.currentTarget.value || undefined })}
          error={fault(error, 'preset')}
        />
        <SecretField
          label="Secret"
          value={secret}
          onChange={(next) => set({ secret: next })}
          error={fault(error, 'secret')}
          generate={preset}
          description={
            stored
              ? 'Another one counts at once. To give senders time, use Rotate secret on the page of the trigger.'
              : 'Sender and trigger share it; it proves who sent a delivery and that nobody changed it.'
          }
        />
        {!secret && !preset && (
          <Alert color="amber" icon={<IconLockOpen size={20} aria-hidden />}>
            <Text size="sm">Without a secret everybody who knows the address can start runs.</Text>
          </Alert>
        )}
      </section>
      <section className={classes.box} aria-label="The answer">
        <Radio.Group
          label="What the sender is answered"
          value={textOf(config, 'respond') || 'accept'}
          onChange={(next) => set({ respond: next === 'accept' ? undefined : next })}
          error={fault(error, 'respond')}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="accept"
              label="Accepted, at once"
              description="202 with the id of the run, as soon as the delivery is stored. Right for most services."
            />
            <Radio
              value="wait"
              label="What the run answers"
              description="The sender waits for the respond node, or for the output of the run."
            />
          </Stack>
        </Radio.Group>
      </section>
    </>
  )
}
