import { Link } from 'wouter'
import { kinds, types } from './kinds'
import classes from './triggers.module.css'
import type { TriggerType } from './types'
import { typeCardsText } from '../../text/triggers'

/** The trigger types to choose from, with descriptions. */
export function TypeCards({ href }: { href: (type: TriggerType) => string }) {
  return (
    <ul className={classes.cards} aria-label={typeCardsText.triggerTypes}>
      {types.map((type) => {
        const { icon: Icon, title, text } = kinds[type]
        return (
          <li key={type}>
            <Link href={href(type)} className={classes.card}>
              <Icon size={24} stroke={1.6} aria-hidden />
              <span>
                <strong>{title}</strong>
                <span className={classes.sub}>{text}</span>
              </span>
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
