import { Button, Group, Text } from '@mantine/core'
import { StatusBadge } from '../../parts'
import { Section } from './section'
import { useBlueprintActions } from './use-actions'
import type { Blueprint } from '../../api/use-blueprint'

/** Whether a blueprint is a draft, what that means, and the button that changes it. */
export function StatusSection({ blueprint }: { blueprint: Blueprint }) {
  const actions = useBlueprintActions()
  const published = blueprint.status === 'published'
  return (
    <Section title="Status">
      <Group justify="space-between" gap="sm">
        <StatusBadge status={blueprint.status} />
        {blueprint.can_manage && (
          <Button
            variant="default"
            size="xs"
            loading={actions.busy}
            onClick={() => actions.setStatus({ ...blueprint, status: published ? 'draft' : 'published' })}
          >
            {published ? 'Make it a draft' : 'Publish'}
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed" mt="sm">
        Drafts run like published blueprints, also by their triggers. Published ones are offered to AI assistants as
        tools, too (MCP).
      </Text>
    </Section>
  )
}
