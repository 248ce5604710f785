import { Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './section.module.css'

type Props = {
  title: string
  text?: ReactNode
  actions?: ReactNode
  /** Frames the content: for forms; lists have their own frame. */
  boxed?: boolean
  children: ReactNode
}

/** A section of a page: an h2, a description, and the content. */
export function Section({ title, text, actions, boxed = false, children }: Props) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={classes.section}>
      <div>
        <div className={classes.head}>
          <Title order={2} id={id}>
            {title}
          </Title>
          {actions}
        </div>
        {text && (
          <Text size="sm" c="dimmed" maw={720} component="div">
            {text}
          </Text>
        )}
      </div>
      {boxed ? <div className={classes.box}>{children}</div> : children}
    </section>
  )
}
