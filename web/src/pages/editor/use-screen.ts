import { useMediaQuery } from '@mantine/hooks'

const now = { getInitialValueInEffect: false }

/**
 * The available space. `folded`: no column of node types; `small`: no panel beside the canvas; `tight`: no labels on
 * the toolbar; `narrow`: a phone.
 */
export function useScreen() {
  const narrow = useMediaQuery('(max-width: 47.99em)', undefined, now) ?? false
  const tight = useMediaQuery('(max-width: 61.99em)', undefined, now) ?? false
  const folded = useMediaQuery('(max-width: 76em)', undefined, now) ?? false
  const small = useMediaQuery('(max-width: 68em)', undefined, now) ?? false
  return { narrow, tight, folded, small }
}
