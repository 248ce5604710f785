import { Autocomplete, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { fault, type FieldsProps } from './fields'
import { SecretField } from './secret-field'
import { textOf } from './types'
import classes from './triggers.module.css'

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
      <section className={classes.box} aria-label="The app">
        <SecretField
          label="Signing secret"
          value={textOf(config, 'signingSecret')}
          onChange={(next) => set({ signingSecret: next })}
          error={fault(error, 'signingSecret')}
          description="From api.slack.com: your app, Basic Information, App Credentials. Slack signs every event with it."
        />
      </section>
      <section className={classes.box} aria-label="What to listen to">
        <Autocomplete
          label="Type of event"
          description="As Slack names it. Empty: every event that the app subscribes to."
          data={events}
          value={textOf(config, 'eventType')}
          onChange={(next) => set({ eventType: next.trim() || undefined })}
          error={fault(error, 'eventType')}
          placeholder="app_mention"
          comboboxProps={{ withinPortal: true }}
        />
        <TextInput
          label="Channel"
          description="Its id, such as C0123456789 (at the bottom of the channel's details in Slack), or its name. Empty: every channel."
          value={textOf(config, 'channel')}
          onChange={(event) => set({ channel: event.currentTarget.value.trim() || undefined })}
          error={fault(error, 'channel')}
          spellCheck={false}
          autoComplete="off"
        />
        {(named || chosen) && (
          <Select
            label="Connection"
            description="Looks up the name of the channel: a connection of type slack with the bot token of the app."
            data={slack}
            value={chosen || null}
            onChange={(next) => set({ connectionId: next ?? undefined })}
            clearable
            placeholder="Choose a connection"
            nothingFoundMessage="You have no connection of type slack"
            error={fault(error, 'connectionId')}
            comboboxProps={{ withinPortal: true }}
            clearButtonProps={{ 'aria-label': 'No connection' }}
          />
        )}
      </section>
    </>
  )
}
