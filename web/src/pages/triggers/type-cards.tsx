import { UnstyledButton } from '@mantine/core'
import { Link } from 'wouter'
import { kinds, types } from './kinds'
import classes from './triggers.module.css'
import type { TriggerType } from './types'
import { typeCardsText } from '../../text/triggers'

type Props = { href: (type: TriggerType) => string } | { onChoose: (type: TriggerType) => void }

/** The trigger types to choose from, with descriptions: links, or buttons where no page is opened. */
export function TypeCards(props: Props) {
  return (
    <ul className={classes.cards} aria-label={typeCardsText.triggerTypes}>
      {types.map((type) => {
        const { icon: Icon, title, text } = kinds[type]
        const content = (
          <>
            <span className={classes.sign}>
              <Icon size={22} stroke={1.6} aria-hidden />
            </span>
            <span>
              <strong>{title}</strong>
              <span className={classes.sub}>{text}</span>
            </span>
          </>
        )
        return (
          <li key={type}>
            {'href' in props ? (
              <Link href={props.href(type)} className={classes.card}>
                {content}
              </Link>
            ) : (
              <UnstyledButton className={classes.card} w="100%" onClick={() => props.onChoose(type)}>
                {content}
              </UnstyledButton>
            )}
          </li>
        )
      })}
    </ul>
  )
}
