import { Alert, Checkbox, Radio, Stack, TagsInput, Text } from '@mantine/core'
import { IconMailOff } from '@tabler/icons-react'
import { useServerInfo } from '../../api/server-info'
import { fault, type FieldsProps } from './fields'
import classes from './triggers.module.css'
import { textOf } from './types'
import { emailFieldsText } from '../../text/triggers'

/** allowFrom, requireAuth and attachments. */
export function EmailFields({ config, set, error }: FieldsProps) {
  const from = Array.isArray(config.allowFrom)
    ? config.allowFrom.filter((one): one is string => typeof one === 'string')
    : []
  return (
    <>
      <NoMail />
      <section className={classes.box} aria-label={emailFieldsText.senders}>
        <TagsInput
          label={emailFieldsText.allowedSenders}
          description={emailFieldsText.addressesSuchAsAdaExampleOrg}
          value={from}
          onChange={(next) => set({ allowFrom: next.length > 0 ? next : undefined })}
          error={fault(error, 'allowFrom')}
          placeholder={from.length === 0 ? emailFieldsText.typeAnAddressAndPressEnter : undefined}
          splitChars={[',', ' ']}
          acceptValueOnBlur
          clearable
          clearButtonProps={{ 'aria-label': emailFieldsText.removeAll }}
        />
        <Checkbox
          label={emailFieldsText.requireSenderAuthentication}
          description={emailFieldsText.theDomainOfTheSenderMust}
          checked={config.requireAuth === true}
          onChange={(event) => set({ requireAuth: event.currentTarget.checked || undefined })}
          error={fault(error, 'requireAuth')}
        />
        {!(from.length > 0 && config.requireAuth === true) && (
          <Text size="sm" c="dimmed">
            {emailFieldsText.anyoneWhoKnowsTheAddressCan}
          </Text>
        )}
      </section>
      <section className={classes.box} aria-label={emailFieldsText.attachments}>
        <Radio.Group
          label={emailFieldsText.attachments}
          value={textOf(config, 'attachments') || 'store'}
          onChange={(next) => set({ attachments: next === 'store' ? undefined : next })}
          error={fault(error, 'attachments')}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="store"
              label={emailFieldsText.keepAttachments}
              description={emailFieldsText.theRunAndItsViewersCan}
            />
            <Radio
              value="ignore"
              label={emailFieldsText.dropAttachments}
              description={emailFieldsText.theRunSeesOnlyTheText}
            />
          </Stack>
        </Radio.Group>
      </section>
    </>
  )
}

/** Says that this server receives no mail, and how to enable it. */
export function NoMail() {
  const info = useServerInfo()
  if (!info.data || info.data.mailDomain !== null) return null
  return (
    <Alert
      color="amber"
      icon={<IconMailOff size={20} aria-hidden />}
      title={emailFieldsText.thisServerDoesNotReceiveMail}
    >
      <Text size="sm">{emailFieldsText.startItWithSmtpAddrFor}</Text>
    </Alert>
  )
}
