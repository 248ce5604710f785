import { Alert, Text } from '@mantine/core'
import { IconShieldQuestion } from '@tabler/icons-react'
import { useSignedIn } from '../../api/session'
import { GrantNote, showAuthor } from './grant-note'
import { useAuthority } from './use-authority'
import { triggerGrantText } from '../../text/authority'

/** Asks for the grant that a trigger lacks for the current version, or names the user who can give it. */
export function TriggerGrant({ blueprintId, triggerId }: { blueprintId: string; triggerId: string }) {
  const { user } = useSignedIn()
  const authority = useAuthority(blueprintId).data
  const own = authority?.triggers.find((each) => each.triggerId === triggerId)
  // For a trigger, mine means that its principal wrote the version.
  if (!authority || !own || own.mine || own.granted) return null
  if (own.principal.id === user.id) {
    return (
      <GrantNote
        blueprintId={blueprintId}
        version={authority.version}
        author={authority.author}
        basis={authority.basis}
      >
        {triggerGrantText.thisTriggerRunsAsYouBut}
      </GrantNote>
    )
  }
  return (
    <Alert
      color="amber"
      icon={<IconShieldQuestion size={20} aria-hidden />}
      title={triggerGrantText.notGrantedBy(showAuthor(own.principal))}
      mb="md"
    >
      <Text size="sm">
        {triggerGrantText.thisTriggerRunsAsButAnother(showAuthor(own.principal), authority.version)}
      </Text>
    </Alert>
  )
}
