import { Button, Stack, Text, TextInput, PasswordInput } from '@mantine/core'
import { type FormEvent, useRef, useState } from 'react'
import { Redirect, useSearchParams } from 'wouter'
import { describeError } from '../../api/errors'
import { useSession, useSignIn } from '../../api/session'
import { PageHeader } from '../../parts'
import { expectHeading } from '../../parts/route-focus'
import { Disclosure } from './disclosure'
import { Frame } from './frame'
import { LinkHelp } from './link-help'
import { SignInError } from './sign-in-error'
import { useCountdown } from './use-countdown'
import { inside } from './where'
import { signInPageText } from '../../text/sign-in'
import { commonText } from '../../text/common'

/** Signs in. A signed-out user sees it at the address of any page, and that page after signing in. */
export default function SignInPage() {
  const session = useSession()
  const signIn = useSignIn()
  const [params] = useSearchParams()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const passwordField = useRef<HTMLInputElement>(null)
  const { left, start } = useCountdown()

  const elsewhere = location.pathname !== '/signin'
  if (session.data && !elsewhere) return <Redirect to={inside(params.get('to'))} replace />

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (left > 0 || signIn.isPending) return
    signIn.mutate(
      { email: email.trim(), password },
      {
        onSuccess: expectHeading,
        onError: (refusal) => {
          const { code, retryAfter } = describeError(refusal)
          if (code === 'TOO_MANY_REQUESTS') start(retryAfter ?? 60)
          // A wrong password is usually retyped, not corrected.
          if (code === 'UNAUTHORIZED') passwordField.current?.select()
        },
      },
    )
  }
  return (
    <Frame
      below={
        <Disclosure label={signInPageText.noPasswordYetOrForgotten}>
          <LinkHelp email={email} />
        </Disclosure>
      }
    >
      <PageHeader
        title={signInPageText.signIn}
        text={elsewhere && location.pathname !== '/' ? signInPageText.youReturnToThePageYou : undefined}
      />
      <form onSubmit={submit}>
        <Stack>
          {signIn.error && !signIn.isPending && <SignInError error={signIn.error} left={left} />}
          <TextInput
            label={commonText.email}
            type="email"
            name="email"
            autoComplete="username"
            required
            withAsterisk={false}
            autoFocus
            size="md"
            maxLength={320}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            ref={passwordField}
            label={signInPageText.password}
            name="password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            size="md"
            maxLength={1000}
            visibilityToggleButtonProps={{
              'aria-label': signInPageText.showOrHideThePassword,
              tabIndex: 0,
              'aria-hidden': false,
            }}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" size="md" h={44} loading={signIn.isPending} disabled={left > 0}>
            {signInPageText.signIn}
          </Button>
          <Text size="xs" c="dimmed">
            {signInPageText.youStaySignedInOnThis}
          </Text>
        </Stack>
      </form>
    </Frame>
  )
}
