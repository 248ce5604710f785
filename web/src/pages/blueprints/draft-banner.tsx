import { Alert, Button, Group } from '@mantine/core'
import { IconRobot } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Blueprint } from '../../api/use-blueprint'
import { draftIn, reviewOf } from './drafts'
import { useApply } from './use-apply'
import { draftBannerText } from '../../text/blueprints'

/** On the pages of an agent's draft: what it is, and the way to apply it. */
export function DraftBanner({ blueprint }: { blueprint: Blueprint }) {
  const draft = draftIn(blueprint.tags)
  const { apply, applying } = useApply()
  if (!draft) return null
  return (
    <Alert
      icon={<IconRobot size={20} aria-hidden />}
      title={draft.proposed ? draftBannerText.proposed : draftBannerText.draft}
      mb="md"
    >
      {blueprint.description || draftBannerText.nothingStartsIt}
      {blueprint.can_manage && draft.proposed && (
        <Group gap="xs" mt="xs">
          {draft.of ? (
            <Button component={Link} href={reviewOf(draft.of, blueprint.id)} size="compact-md">
              {draftBannerText.reviewChanges}
            </Button>
          ) : (
            <Button size="compact-md" loading={applying} onClick={() => void apply(blueprint, draft)}>
              {draftBannerText.publish}
            </Button>
          )}
        </Group>
      )}
    </Alert>
  )
}
