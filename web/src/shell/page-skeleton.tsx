import { Skeleton, Stack, VisuallyHidden } from '@mantine/core'
import { commonText } from '../text/common'

/** A placeholder for a page while its code loads. */
export function PageSkeleton() {
  return (
    <Stack gap="md" aria-busy="true">
      <VisuallyHidden role="status">{commonText.loading}</VisuallyHidden>
      <Skeleton h={30} w={220} mb="xs" />
      {[0, 1, 2, 3, 4].map((row) => (
        <Skeleton key={row} h={44} />
      ))}
    </Stack>
  )
}
