import { Button } from '@mantine/core'
import { useSignedIn, useSignOut } from '../../api/session'
import { confirm, notifyError } from '../../parts'
import { NameForm } from './name-form'
import { PasswordForm } from './password-form'
import { Section } from './section'
import { SessionsTable } from './sessions-table'
import { SettingsFrame } from './settings-frame'
import { profilePageText } from '../../text/settings'

/** The user's name, password and sessions. */
export default function ProfilePage() {
  const { user } = useSignedIn()
  const signOut = useSignOut()
  const everywhere = async () => {
    const yes = await confirm({
      title: profilePageText.signOutEverywhere,
      text: profilePageText.allYourSessionsEndIncluding,
      action: profilePageText.signOutEverywhere2,
      danger: true,
    })
    if (yes) signOut.mutate({ everywhere: true }, { onError: notifyError })
  }
  return (
    <SettingsFrame title={profilePageText.profile}>
      <Section title={profilePageText.yourDetails} boxed>
        <NameForm key={user.id} />
      </Section>
      <Section title={profilePageText.password} text={profilePageText.changingItEndsAllYourOther} boxed>
        <PasswordForm />
      </Section>
      <Section
        title={profilePageText.sessions}
        text={profilePageText.browsersInWhichYouAreSigned}
        actions={
          <Button variant="default" onClick={() => void everywhere()} loading={signOut.isPending}>
            {profilePageText.signOutEverywhere2}
          </Button>
        }
      >
        <SessionsTable />
      </Section>
    </SettingsFrame>
  )
}
