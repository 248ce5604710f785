import { Autocomplete, Text } from '@mantine/core'
import { useServerInfo } from '../../api/server-info'
import { BlueprintSelect } from './blueprint-select'
import { fault, type FieldsProps } from './fields'
import { textOf } from './types'
import classes from './triggers.module.css'
import { eventInWords } from './words'

/** event and blueprintId. */
export function EventFields({ config, set, error }: FieldsProps) {
  const info = useServerInfo()
  const event = textOf(config, 'event')
  const said = eventInWords(event)
    ? `Fires when ${eventInWords(event)}.`
    : /^custom\../.test(event)
      ? `Fires when an emit-event node with the name ${event.slice(7)} runs.`
      : 'An event of the server, or custom. and the name that an emit-event node raises.'
  return (
    <section className={classes.box} aria-label="What to listen to">
      <Autocomplete
        label="Event"
        description={said}
        data={[...(info.data?.events ?? []), 'custom.']}
        value={event}
        onChange={(next) => set({ event: next.trim() || undefined })}
        error={fault(error, 'event')}
        required
        withAsterisk={false}
        comboboxProps={{ withinPortal: true }}
        spellCheck={false}
        renderOption={({ option }) => (
          <span>
            <span>
              {option.value}
              {option.value === 'custom.' && '…'}
            </span>
            <Text size="xs" c="dimmed">
              {option.value === 'custom.' ? 'an event of your own' : eventInWords(option.value)}
            </Text>
          </span>
        )}
      />
      <BlueprintSelect
        label="Only of one blueprint"
        description="Narrows it to what happens to, or in runs of, that blueprint. A blueprint does not hear its own runs."
        value={textOf(config, 'blueprintId')}
        onChange={(id) => set({ blueprintId: id || undefined })}
        placeholder="Any blueprint of the organization"
        clearable
        error={fault(error, 'blueprintId')}
      />
    </section>
  )
}
