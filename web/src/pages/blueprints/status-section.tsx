import { Button, Group, Text } from '@mantine/core'
import { StatusBadge } from '../../parts'
import { Section } from './section'
import { useBlueprintActions } from './use-actions'
import type { Blueprint } from '../../api/use-blueprint'
import { statusSectionText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** The status of a blueprint, its meaning, and the button that changes it. */
export function StatusSection({ blueprint }: { blueprint: Blueprint }) {
  const actions = useBlueprintActions()
  const published = blueprint.status === 'published'
  return (
    <Section title={commonText.status}>
      <Group justify="space-between" gap="sm">
        <StatusBadge status={blueprint.status} />
        {blueprint.can_manage && (
          <Button
            variant="default"
            size="xs"
            loading={actions.busy}
            onClick={() => actions.setStatus({ ...blueprint, status: published ? 'draft' : 'published' })}
          >
            {published ? statusSectionText.unpublish : commonText.publish}
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed" mt="sm">
        {statusSectionText.draftsCanBeRunAndTriggered}
      </Text>
    </Section>
  )
}
