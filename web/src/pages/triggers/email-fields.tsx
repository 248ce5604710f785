import { Alert, Checkbox, Radio, Stack, TagsInput, Text } from '@mantine/core'
import { IconMailOff } from '@tabler/icons-react'
import { useServerInfo } from '../../api/server-info'
import { fault, type FieldsProps } from './fields'
import classes from './triggers.module.css'
import { textOf } from './types'

/** allowFrom, requireAuth and attachments. */
export function EmailFields({ config, set, error }: FieldsProps) {
  const from = Array.isArray(config.allowFrom)
    ? config.allowFrom.filter((one): one is string => typeof one === 'string')
    : []
  return (
    <>
      <NoMail />
      <section className={classes.box} aria-label="Who may write">
        <TagsInput
          label="Let in only mail from"
          description="Addresses such as ada@example.org, and @example.org for a whole domain. Empty: everybody. Other mail is accepted and left out."
          value={from}
          onChange={(next) => set({ allowFrom: next.length > 0 ? next : undefined })}
          error={fault(error, 'allowFrom')}
          placeholder={from.length === 0 ? 'Type one and press Enter' : undefined}
          splitChars={[',', ' ']}
          acceptValueOnBlur
          clearable
          clearButtonProps={{ 'aria-label': 'Take all away' }}
        />
        <Checkbox
          label="The sender must be proven"
          description="Anybody can write any name into a From line. With this the domain of the sender must vouch for the mail: DMARC, or else DKIM or SPF of the same domain."
          checked={config.requireAuth === true}
          onChange={(event) => set({ requireAuth: event.currentTarget.checked || undefined })}
          error={fault(error, 'requireAuth')}
        />
        {!(from.length > 0 && config.requireAuth === true) && (
          <Text size="sm" c="dimmed">
            As it is, anybody who knows the address can start runs. The address is long and random; do not publish it.
          </Text>
        )}
      </section>
      <section className={classes.box} aria-label="Attachments">
        <Radio.Group
          label="Attachments"
          value={textOf(config, 'attachments') || 'store'}
          onChange={(next) => set({ attachments: next === 'store' ? undefined : next })}
          error={fault(error, 'attachments')}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="store" label="Keep them" description="As files that the run and its readers can download." />
            <Radio
              value="ignore"
              label="Leave them out"
              description="The run sees the text alone; attachments is an empty list."
            />
          </Stack>
        </Radio.Group>
      </section>
    </>
  )
}

/** Says that this server takes no mail, and how it would. */
export function NoMail() {
  const info = useServerInfo()
  if (!info.data || info.data.mailDomain !== null) return null
  return (
    <Alert color="amber" icon={<IconMailOff size={20} aria-hidden />} title="This server takes no mail now">
      <Text size="sm">
        Start it with --smtp-addr (for example --smtp-addr :25) and --mail-domain, the domain whose MX record points
        here. The trigger can be made before that.
      </Text>
    </Alert>
  )
}
