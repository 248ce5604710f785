import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './start-cards.module.css'
import { startCardsText } from '../../text/blueprints'

type Props = {
  value: string
  onChange: (key: string) => void
  choices: { key: string; title: string; text: string; icon: ReactNode }[]
}

/** Starting points as cards that are radio buttons. */
export function StartCards({ value, onChange, choices }: Props) {
  return (
    <fieldset className={classes.set}>
      <legend className={classes.legend}>{startCardsText.startWith}</legend>
      {choices.map(({ key, title, text, icon }) => (
        <label key={key} className={classes.card}>
          <input
            type="radio"
            name="from"
            value={key}
            checked={value === key}
            onChange={() => onChange(key)}
            className={classes.radio}
          />
          <span className={classes.icon}>{icon}</span>
          <span>
            <Text fw={600} size="sm" component="span" display="block">
              {title}
            </Text>
            <Text size="xs" c="dimmed" component="span" display="block">
              {text}
            </Text>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
