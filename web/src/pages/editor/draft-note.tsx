import { Alert, Button, Group } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { Time } from '../../parts'
import type { useDraft } from './use-draft'

/** Offers changes that were made earlier and never saved. */
export function DraftNote({ draft, version }: { draft: ReturnType<typeof useDraft>; version: string }) {
  if (!draft.found) return null
  const { at, version: madeOn } = draft.found
  return (
    <Alert icon={<IconHistory size={20} aria-hidden />} title="There are changes that were never saved" role="status">
      From <Time at={new Date(at).toISOString()} />
      {madeOn !== version ? `, made on version ${madeOn}; now it is ${version}` : ''}.
      <Group gap="xs" mt="xs">
        <Button size="compact-md" onClick={draft.take}>
          Bring them back
        </Button>
        <Button size="compact-md" variant="default" onClick={draft.drop}>
          Throw them away
        </Button>
      </Group>
    </Alert>
  )
}
