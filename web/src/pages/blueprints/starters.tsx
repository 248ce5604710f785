import { Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import classes from './blueprints.module.css'
import { templates } from './templates'
import { startersText } from '../../text/blueprints'

/** The templates as cards that link to a new blueprint. */
export function Starters() {
  return (
    <section aria-labelledby="starters">
      <Title order={2} size="h4" id="starters" mt="lg">
        {startersText.startWithAnExample}
      </Title>
      <div className={classes.starters} style={{ marginTop: 10 }}>
        {templates.map(({ key, title, text }) => (
          <Link key={key} href={`/blueprints/new?from=${key}`} className={classes.starter}>
            <Text fw={600} size="sm" c="var(--mantine-color-anchor)">
              {title}
            </Text>
            <Text size="sm" c="dimmed">
              {text}
            </Text>
          </Link>
        ))}
      </div>
    </section>
  )
}
