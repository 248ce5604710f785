import { Button, Group } from '@mantine/core'
import { commonText } from '../../text/common'

/** The button that ends a form. With nothing to save it is dim, but keeps the keyboard's place. */
export function SaveButton({ changed, saving }: { changed: boolean; saving: boolean }) {
  const off = !changed && !saving
  return (
    <Group justify="flex-end">
      <Button
        type="submit"
        aria-disabled={off || undefined}
        data-disabled={off || undefined}
        loading={saving}
        onClick={(event) => off && event.preventDefault()}
      >
        {commonText.save}
      </Button>
    </Group>
  )
}
