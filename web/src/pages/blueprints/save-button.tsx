import { Button, Group } from '@mantine/core'
import { commonText } from '../../text/common'

/** The submit button of a form. Without changes it looks disabled, but stays focusable. */
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
