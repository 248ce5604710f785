import { Card, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

type Props = { title: string; text?: ReactNode; children: ReactNode }

/** A part of a settings page: a card with a heading. */
export function Section({ title, text, children }: Props) {
  const id = useId()
  return (
    <Card component="section" aria-labelledby={id} mb="md">
      <Title order={2} size="h3" id={id} mb={text ? 2 : 'sm'}>
        {title}
      </Title>
      {text && (
        <Text size="sm" c="dimmed" mb="sm" component="div">
          {text}
        </Text>
      )}
      {children}
    </Card>
  )
}
