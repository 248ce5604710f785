import { Button } from '@mantine/core'
import { useSignedIn, useSignOut } from '../../api/session'
import { confirm, notifyError } from '../../parts'
import { NameForm } from './name-form'
import { PasswordForm } from './password-form'
import { Section } from './section'
import { SessionsTable } from './sessions-table'
import { SettingsFrame } from './settings-frame'

/** Who one is, one's password, and where one is signed in. */
export default function ProfilePage() {
  const { user } = useSignedIn()
  const signOut = useSignOut()
  const everywhere = async () => {
    const yes = await confirm({
      title: 'Sign out everywhere?',
      text: 'All your sessions end at once, this one too. API keys go on working.',
      action: 'Sign out everywhere',
      danger: true,
    })
    if (yes) signOut.mutate({ everywhere: true }, { onError: notifyError })
  }
  return (
    <SettingsFrame title="Profile">
      <Section title="You" boxed>
        <NameForm key={user.id} />
      </Section>
      <Section title="Password" text="A change ends all your other sessions. API keys go on working." boxed>
        <PasswordForm />
      </Section>
      <Section
        title="Sessions"
        text="Where you are signed in to this dashboard. A session ends 30 days after its last use, and after 90 days in any case."
        actions={
          <Button variant="default" onClick={() => void everywhere()} loading={signOut.isPending}>
            Sign out everywhere
          </Button>
        }
      >
        <SessionsTable />
      </Section>
    </SettingsFrame>
  )
}
