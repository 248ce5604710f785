import { useMediaQuery } from '@mantine/hooks'

const now = { getInitialValueInEffect: false }

/**
 * The available space. `small`: the panel is a sheet; `tight`: no labels on the toolbar; `narrow`: a phone, on which
 * the catalogue is a sheet too.
 */
export function useScreen() {
  const narrow = useMediaQuery('(max-width: 47.99em)', undefined, now) ?? false
  const tight = useMediaQuery('(max-width: 87em)', undefined, now) ?? false
  const small = useMediaQuery('(max-width: 61.99em)', undefined, now) ?? false
  return { narrow, tight, small }
}
