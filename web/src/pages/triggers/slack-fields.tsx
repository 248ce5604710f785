import { Autocomplete, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { fault, type FieldsProps } from './fields'
import { SecretField } from './secret-field'
import { textOf } from './types'
import classes from './triggers.module.css'
import { slackFieldsText } from '../../text/triggers'
import { commonText } from '../../text/common'

const events = [
  'app_mention',
  'message',
  'message.channels',
  'message.groups',
  'message.im',
  'message.mpim',
  'reaction_added',
  'member_joined_channel',
  'channel_created',
  'team_join',
  'app_home_opened',
  'file_shared',
]

/** signingSecret, eventType, channel and connectionId. */
export function SlackFields({ config, set, error }: FieldsProps) {
  const connections = useQuery({
    queryKey: ['connection', 'list'],
    queryFn: () => api.connection.list.query(),
    staleTime: 30_000,
  })
  const slack = (connections.data ?? [])
    .filter((one) => one.type === 'slack')
    .map(({ id, name }) => ({ value: id, label: name }))
  const chosen = textOf(config, 'connectionId')
  if (chosen && !slack.some(({ value }) => value === chosen)) slack.push({ value: chosen, label: chosen })
  const named = textOf(config, 'channel') !== '' && !/^[A-Z][A-Z0-9]*$/.test(textOf(config, 'channel'))
  return (
    <>
      <section className={classes.box} aria-label={slackFieldsText.slackApp}>
        <SecretField
          label={slackFieldsText.signingSecret}
          value={textOf(config, 'signingSecret')}
          onChange={(next) => set({ signingSecret: next })}
          error={fault(error, 'signingSecret')}
          description={slackFieldsText.fromApiSlackComYourApp}
        />
      </section>
      <section className={classes.box} aria-label={slackFieldsText.events}>
        <Autocomplete
          label={slackFieldsText.eventType}
          description={slackFieldsText.nameOfTheSlackEventLeave}
          data={events}
          value={textOf(config, 'eventType')}
          onChange={(next) => set({ eventType: next.trim() || undefined })}
          error={fault(error, 'eventType')}
          placeholder={slackFieldsText.appMention}
          comboboxProps={{ withinPortal: true }}
        />
        <TextInput
          label={slackFieldsText.channel}
          description={slackFieldsText.idSuchAsC0123456789ShownIn}
          value={textOf(config, 'channel')}
          onChange={(event) => set({ channel: event.currentTarget.value.trim() || undefined })}
          error={fault(error, 'channel')}
          spellCheck={false}
          autoComplete="off"
        />
        {(named || chosen) && (
          <Select
            label={commonText.connection}
            description={slackFieldsText.usedToLookUpChannelNames}
            data={slack}
            value={chosen || null}
            onChange={(next) => set({ connectionId: next ?? undefined })}
            clearable
            placeholder={slackFieldsText.chooseAConnection}
            nothingFoundMessage={slackFieldsText.noSlackConnections}
            error={fault(error, 'connectionId')}
            comboboxProps={{ withinPortal: true }}
            clearButtonProps={{ 'aria-label': slackFieldsText.noConnection }}
          />
        )}
      </section>
    </>
  )
}
