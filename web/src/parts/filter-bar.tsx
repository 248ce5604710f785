import { Button } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { type ReactNode, type Ref, useId, useState } from 'react'
import classes from './filter-bar.module.css'
import { filterBarText } from '../text/parts'

type Props = {
  /** What is filtered: `Filter blueprints`. */
  label: string
  search: ReactNode
  /** The fields that filter. */
  children: ReactNode
  /** The number of filters that are set, without the search. */
  set: number
  ref?: Ref<HTMLDivElement>
}

/** The filters above a list: in one row, on a phone behind a button beside the search. */
export function FilterBar({ label, search, children, set, ref }: Props) {
  const [open, setOpen] = useState(false)
  const id = useId()
  return (
    <div ref={ref} className={classes.bar} role="search" aria-label={label}>
      <div className={classes.search}>{search}</div>
      <Button
        className={classes.toggle}
        variant={set > 0 ? 'light' : 'default'}
        leftSection={<IconFilter size={17} aria-hidden />}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {filterBarText.filters(set)}
      </Button>
      <div id={id} className={classes.filters} data-open={open || undefined}>
        {children}
      </div>
    </div>
  )
}
