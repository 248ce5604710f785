import { Skeleton } from '@mantine/core'
import { Link } from 'wouter'
import { ErrorNote } from '../../parts'
import classes from './connections.module.css'
import { TypeIcon, useTypes } from './types'
import { typeChooserText } from '../../text/connections'

/** The types of connections, as links to their forms. */
export function TypeChooser() {
  const types = useTypes()
  if (types.error && !types.data) return <ErrorNote error={types.error} onRetry={() => void types.refetch()} />
  return (
    <ul className={classes.types} aria-label={typeChooserText.connectionTypes} aria-busy={types.isPending || undefined}>
      {types.isPending &&
        [0, 1, 2, 3, 4, 5].map((row) => (
          <li key={row}>
            <Skeleton h={92} radius="md" />
          </li>
        ))}
      {types.data?.map(({ type, title, description }) => (
        <li key={type}>
          <Link href={`/connections/new?type=${type}`} className={classes.type}>
            <span className={classes.sign}>
              <TypeIcon type={type} size={22} />
            </span>
            <span>
              <b>{title}</b>
              <br />
              <span className={classes.about}>{description}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
