import { Choices } from '../../parts'
import { typeCardsText } from '../../text/triggers'
import { kinds, types } from './kinds'
import type { TriggerType } from './types'

/** The trigger types to choose from. `to` returns the page of a type, or what choosing it does. */
export function TypeCards({ to }: { to: (type: TriggerType) => string | (() => void) }) {
  return (
    <Choices
      label={typeCardsText.triggerTypes}
      choices={types.map((type) => {
        const { icon: Icon, title, text } = kinds[type]
        return { key: type, icon: <Icon size={22} stroke={1.6} aria-hidden />, title, text, to: to(type) }
      })}
    />
  )
}
