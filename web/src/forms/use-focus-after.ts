import { useEffect, useRef } from 'react'

/**
 * Moves the focus when rows are added or removed: to the newest row, or, if the row with the focus was removed, to the
 * button that adds one. Otherwise it would return to the start of the page.
 */
export function useFocusAfter(count: number) {
  const rows = useRef<HTMLDivElement>(null)
  const add = useRef<HTMLButtonElement>(null)
  const wish = useRef<'row' | 'add'>(undefined)
  useEffect(() => {
    if (wish.current === 'row')
      rows.current?.lastElementChild
        ?.querySelector<HTMLElement>(':scope [data-field] :is(input, textarea, select)')
        ?.focus()
    if (wish.current === 'add') add.current?.focus()
    wish.current = undefined
  }, [count])
  return {
    rows,
    add,
    toNewest: () => {
      wish.current = 'row'
    },
    toAdd: () => {
      wish.current = 'add'
    },
  }
}
