import { Skeleton, UnstyledButton } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import classes from './choices.module.css'

type Choice = {
  key: string
  /** An icon of 22 pixels. */
  icon: ReactNode
  title: string
  text: string
  /** The page to open, or what to do where no page is opened. */
  to: string | (() => void)
}

/** Cards to choose one from, named by label. Without choices, placeholders. */
export function Choices({ label, choices }: { label: string; choices: Choice[] | undefined }) {
  return (
    <ul className={classes.list} aria-label={label} aria-busy={!choices || undefined}>
      {!choices &&
        [0, 1, 2, 3, 4, 5].map((row) => (
          <li key={row}>
            <Skeleton h={84} radius="md" />
          </li>
        ))}
      {choices?.map(({ key, icon, title, text, to }) => {
        const content = (
          <>
            <span className={classes.icon}>{icon}</span>
            <span>
              <strong className={classes.title}>{title}</strong>
              <span className={classes.text}>{text}</span>
            </span>
          </>
        )
        return (
          <li key={key}>
            {typeof to === 'string' ? (
              <Link href={to} className={classes.card}>
                {content}
              </Link>
            ) : (
              <UnstyledButton className={classes.card} onClick={to}>
                {content}
              </UnstyledButton>
            )}
          </li>
        )
      })}
    </ul>
  )
}
