import { Anchor, Card, CloseButton, Group, List, PasswordInput, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconFileText } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Outputs } from '../../api/client'
import { showPath } from '../../api/errors'
import { isError } from '../../forms/issues'
import { ErrorNote } from '../../parts'
import type { Created } from './create'
import { lacksSecret, type ReadFile } from './file'
import { importCardText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** A parsed file and the result of its import. */
export type Entry = {
  key: number
  name: string
  read: ReadFile
  /** The issues that the server found in its map. */
  issues: Outputs['blueprint']['validate']['issues']
  /** Secrets for its triggers, by their position in the file. */
  secrets: Record<number, string>
  error?: unknown
  done?: Created
}

type Props = {
  entry: Entry
  withTriggers: boolean
  onSecret: (index: number, secret: string) => void
  onRemove: () => void
}

/** One file of an import. */
export function ImportCard({
  entry: { name, read, issues, error, done, secrets },
  withTriggers,
  onSecret,
  onRemove,
}: Props) {
  const file = read.file
  const nodes = Array.isArray(file?.blueprint_map.nodes) ? file.blueprint_map.nodes.length : 0
  const errors = issues.filter(isError)
  return (
    <Card padding="sm">
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Group gap="xs" wrap="nowrap" align="flex-start" miw={0}>
            {done ? (
              <IconCircleCheck size={20} color="var(--mantine-color-green-text)" aria-label={importCardText.imported} />
            ) : file ? (
              <IconFileText size={20} aria-hidden />
            ) : (
              <IconAlertTriangle
                size={20}
                color="var(--mantine-color-red-text)"
                aria-label={importCardText.cannotBeImported}
              />
            )}
            <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
              <Text fw={600} size="sm">
                {file?.title ?? name}
              </Text>
              <Text size="xs" c="dimmed">
                {file
                  ? [
                      name,
                      importCardText.nodes(nodes),
                      importCardText.variables(file.environment_variables?.length ?? 0),
                      importCardText.triggers(file.triggers?.length ?? 0),
                    ].join(' · ')
                  : importCardText.cannotBeImported}
              </Text>
            </div>
          </Group>
          {done ? (
            <Anchor component={Link} href={`/blueprints/${done.id}/edit`} size="sm" style={{ flex: 'none' }}>
              {commonText.open}
            </Anchor>
          ) : (
            <CloseButton aria-label={importCardText.remove(name)} onClick={onRemove} />
          )}
        </Group>
        <Lines of={read.faults.map(({ where, message }) => [where, message])} color="var(--mantine-color-error)" />
        <Lines of={read.notes.map(({ where, message }) => [where, message])} />
        {!done && errors.length > 0 && (
          <div>
            <Text size="sm">{importCardText.theServerReportsProblems}</Text>
            <Lines of={errors.map(({ path, message }) => [showPath(path as (string | number)[]), message])} />
          </div>
        )}
        {!done &&
          withTriggers &&
          file?.triggers?.map(
            (trigger, index) =>
              lacksSecret(trigger) && (
                <PasswordInput
                  key={index}
                  label={importCardText.trigger(
                    trigger.triggerType === 'slack' ? importCardText.slackSigningSecret : importCardText.webhookSecret,
                    index + 1,
                  )}
                  description={
                    trigger.triggerType === 'slack'
                      ? importCardText.withoutASecretThisTriggerIs
                      : importCardText.withoutASecretAnyoneWhoKnows
                  }
                  value={secrets[index] ?? ''}
                  onChange={(event) => onSecret(index, event.currentTarget.value)}
                  autoComplete="new-password"
                  visibilityToggleButtonProps={{ 'aria-label': importCardText.showOrHideTheValue }}
                />
              ),
          )}
        <Lines of={done?.left.map((left) => ['', left]) ?? []} />
        <ErrorNote error={error} title={importCardText.couldNotImport} />
      </Stack>
    </Card>
  )
}

const mostLines = 6

function Lines({ of, color = 'dimmed' }: { of: [where: string, message: string][]; color?: string }) {
  if (of.length === 0) return null
  return (
    <List size="sm" c={color} style={{ overflowWrap: 'anywhere' }}>
      {of.slice(0, mostLines).map(([where, message], index) => (
        <List.Item key={index}>{where ? `${where}: ${message}` : message}</List.Item>
      ))}
      {of.length > mostLines && <List.Item>{importCardText.andMore(of.length - mostLines)}</List.Item>}
    </List>
  )
}
