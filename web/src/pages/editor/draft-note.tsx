import { Alert, Button, Group } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { Time } from '../../parts'
import type { useDraft } from './use-draft'
import { draftNoteText } from '../../text/editor'

/** Offers changes that were made earlier and not saved. */
export function DraftNote({ draft, version }: { draft: ReturnType<typeof useDraft>; version: string }) {
  if (!draft.found) return null
  const { at, version: madeOn } = draft.found
  return (
    <Alert icon={<IconHistory size={20} aria-hidden />} title={draftNoteText.unsavedChangesFound} role="status">
      {draftNoteText.from} <Time at={new Date(at).toISOString()} />
      {madeOn !== version ? draftNoteText.basedOnVersionCurrentVersionIs(madeOn, version) : ''}.
      <Group gap="xs" mt="xs">
        <Button size="compact-md" onClick={draft.take}>
          {draftNoteText.restoreChanges}
        </Button>
        <Button size="compact-md" variant="default" onClick={draft.drop}>
          {draftNoteText.discardChanges}
        </Button>
      </Group>
    </Alert>
  )
}
