import { Alert, Button, Stack, TextInput } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import type { Outputs } from '../../api/client'
import { describeError, issueFor } from '../../api/errors'
import { useSession, useSetup } from '../../api/session'
import { ErrorNote, notifyDone, PageHeader } from '../../parts'
import { expectHeading } from '../../parts/route-focus'
import { NewPassword } from './new-password'
import { strengthOf } from './password-strength'
import { setupFormText } from '../../text/sign-in'
import { commonText } from '../../text/common'

type Props = { token: string; link: Outputs['session']['getSetup'] }

/** Sets the password for a link, and with the link of the server's owner name and email too. */
export function SetupForm({ token, link }: Props) {
  const session = useSession()
  const setup = useSetup()
  const [, navigate] = useLocation()
  const [name, setName] = useState(link.name)
  const [email, setEmail] = useState(link.email)
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const known = [email, name]
  const nameFirst = link.fresh || link.name === ''
  const { level, advice } = strengthOf(password, known)
  const error = setup.error
  const issues = error ? describeError(error).issues : []
  const atFields =
    issues.length > 0 && issues.every((issue) => ['name', 'email', 'password'].includes(String(issue.path[0])))

  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])

  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (level === 0) return form.current?.querySelector<HTMLElement>('[name=new-password]')?.focus()
    if (setup.isPending) return
    setup.mutate(
      { token, email: email.trim(), name: name.trim(), password },
      {
        onSuccess: () => {
          expectHeading()
          navigate('/blueprints', { replace: true })
          notifyDone(setupFormText.passwordSetYouAreSignedIn)
        },
      },
    )
  }
  const other = session.data && session.data.user.email !== link.email ? session.data.user.email : undefined
  return (
    <>
      <PageHeader
        title={link.fresh ? setupFormText.welcomeToBlueprintd : setupFormText.setYourPassword}
        text={
          link.fresh ? setupFormText.youAreTheFirstUserEnter : setupFormText.forYouAreSignedInAfterwards(link.email)
        }
      />
      <form onSubmit={submit} ref={form} noValidate={false}>
        <Stack>
          {other && (
            <Alert color="blue" icon={<IconInfoCircle size={20} aria-hidden />}>
              {setupFormText.thisBrowserIsSignedInAs(other, link.email)}
            </Alert>
          )}
          {error && !atFields && <ErrorNote error={error} />}
          <TextInput
            label={commonText.name}
            name="name"
            autoComplete="name"
            required
            withAsterisk={false}
            size="md"
            maxLength={200}
            autoFocus={nameFirst}
            description={setupFormText.visibleToOthersInYour}
            value={name}
            error={issueFor(error, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label={commonText.email}
            name="email"
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            size="md"
            maxLength={320}
            readOnly={!link.fresh}
            description={link.fresh ? setupFormText.youSignInWithItNo : setupFormText.youSignInWithItOnly}
            value={email}
            error={issueFor(error, 'email')}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <NewPassword
            autoFocus={!nameFirst}
            value={password}
            onChange={setPassword}
            known={known}
            error={issueFor(error, 'password') ?? (tried && level === 0 ? advice : undefined)}
          />
          <Button type="submit" size="md" h={44} loading={setup.isPending}>
            {link.fresh ? setupFormText.getStarted : setupFormText.setPasswordAndSignIn}
          </Button>
        </Stack>
      </form>
    </>
  )
}
