import { Fragment, type ReactNode } from 'react'
import classes from './key-value.module.css'

/** Pairs of a name and a value, as a description list; a pair whose value is undefined or false is omitted. */
export function KeyValue({ pairs }: { pairs: [name: string, value: ReactNode][] }) {
  return (
    <dl className={classes.list}>
      {pairs.map(
        ([name, value]) =>
          value !== undefined &&
          value !== false && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  )
}
