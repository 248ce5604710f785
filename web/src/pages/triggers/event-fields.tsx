import { Autocomplete, Text } from '@mantine/core'
import { useServerInfo } from '../../api/server-info'
import { BlueprintSelect } from './blueprint-select'
import { fault, type FieldsProps } from './fields'
import { textOf } from './types'
import classes from './triggers.module.css'
import { eventInWords } from './words'
import { eventFieldsText } from '../../text/triggers'

/** event and blueprintId. */
export function EventFields({ config, set, error }: FieldsProps) {
  const info = useServerInfo()
  const event = textOf(config, 'event')
  const said = eventInWords(event)
    ? eventFieldsText.firesWhen(eventInWords(event))
    : /^custom\../.test(event)
      ? eventFieldsText.firesWhenAnEmitEventNode(event.slice(7))
      : eventFieldsText.anEventOfTheServerOr
  return (
    <section className={classes.box} aria-label={eventFieldsText.event}>
      <Autocomplete
        label={eventFieldsText.event}
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
              {option.value === 'custom.' ? eventFieldsText.aCustomEvent : eventInWords(option.value)}
            </Text>
          </span>
        )}
      />
      <BlueprintSelect
        label={eventFieldsText.blueprintFilter}
        description={eventFieldsText.onlyEventsOfThisBlueprintAnd}
        value={textOf(config, 'blueprintId')}
        onChange={(id) => set({ blueprintId: id || undefined })}
        placeholder={eventFieldsText.anyBlueprintOfTheOrganization}
        clearable
        error={fault(error, 'blueprintId')}
      />
    </section>
  )
}
