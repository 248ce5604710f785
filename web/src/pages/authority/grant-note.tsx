import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconShieldQuestion } from '@tabler/icons-react'
import { type ReactNode } from 'react'
import { ErrorNote, notifyDone } from '../../parts'
import { later } from '../../parts/later'
import { type Author, useGrant } from './use-authority'
import { grantNoteText } from '../../text/authority'

// The comparison of versions imports the graph.
const Changes = later(async () => ({ default: (await import('./changes')).Changes })).Component

type Props = {
  blueprintId: string
  version: string
  author: Author
  basis: string | null | undefined
  /** Why the grant is needed. */
  children: ReactNode
  /** The label of the button; "Grant version 1.2.0" by default. */
  action?: string
  busy?: boolean
  /** Called after the grant. */
  onGranted?: () => void
}

/** Asks for the grant of a version by another user: its author, its changes, and a button. */
export function GrantNote({ blueprintId, version, author, basis, children, action, busy = false, onGranted }: Props) {
  const grant = useGrant()
  const agree = () =>
    grant.mutate(
      { id: blueprintId, version },
      {
        onSuccess: () => {
          notifyDone(grantNoteText.versionGranted(version))
          onGranted?.()
        },
      },
    )
  return (
    <Alert
      color="amber"
      icon={<IconShieldQuestion size={20} aria-hidden />}
      title={grantNoteText.grantVersionBy(version, showAuthor(author))}
      mb="md"
      role="region"
    >
      <Stack gap="xs">
        <Text size="sm">{children}</Text>
        <Changes blueprintId={blueprintId} version={version} basis={basis} />
        <Text size="sm" c="dimmed">
          {grantNoteText.aGrantLetsThisVersionUse}
        </Text>
        <ErrorNote error={grant.error} title={grantNoteText.notGranted} />
        <Group>
          <Button size="compact-md" loading={grant.isPending || busy} onClick={agree}>
            {action ?? grantNoteText.grantVersion(version)}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

/** The name of an author, with the email address if the server includes it. */
export function showAuthor({ name, email }: Author): string {
  if (name && email) return `${name} (${email})`
  return name || email || grantNoteText.aFormerUser
}
