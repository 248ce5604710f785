import { Text, Title } from '@mantine/core'
import { IconCircleDashed } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './empty-state.module.css'

type Props = {
  /** An icon of @tabler/icons-react, sized by this component. */
  icon?: ReactNode
  title: string
  /** The purpose, in a sentence or two. */
  text?: ReactNode
  /** The button for the first step. */
  action?: ReactNode
}

/** Shown in place of an empty list: what the list is for and how to start. */
export function EmptyState({ icon = <IconCircleDashed />, title, text, action }: Props) {
  return (
    <div className={classes.box}>
      <div className={classes.icon} aria-hidden>
        {icon}
      </div>
      <Title order={2} size="h3">
        {title}
      </Title>
      {text && (
        <Text c="dimmed" size="sm" component="div" maw={440}>
          {text}
        </Text>
      )}
      {action && <div className={classes.action}>{action}</div>}
    </div>
  )
}
