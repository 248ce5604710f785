import { Button, PasswordInput, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { describeError, issueFor } from '../../api/errors'
import { useSignedIn } from '../../api/session'
import { ErrorNote, notifyDone } from '../../parts'
import { NewPassword } from '../sign-in/new-password'
import { strengthOf } from '../sign-in/password-strength'
import { SignInError } from '../sign-in/sign-in-error'
import { useCountdown } from '../sign-in/use-countdown'
import { passwordFormText } from '../../text/settings'

/** Changes the user's password; all other sessions end. */
export function PasswordForm() {
  const { user } = useSignedIn()
  const client = useQueryClient()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const { left, start } = useCountdown()
  const change = useMutation({
    mutationFn: (input: Inputs['session']['changePassword']) => api.session.changePassword.mutate(input),
    onSuccess: () => {
      setCurrent('')
      setPassword('')
      setTried(false)
      void client.invalidateQueries({ queryKey: ['sessions'] })
      notifyDone(passwordFormText.passwordChangedAllOther)
    },
    onError: (refusal) => {
      const { code, retryAfter } = describeError(refusal)
      if (code === 'TOO_MANY_REQUESTS') start(retryAfter ?? 60)
    },
  })
  const { error } = change
  const known = [user.email, user.name]
  const { level, advice } = strengthOf(password, known)
  const atField = issueFor(error, 'current') ?? issueFor(error, 'password')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (level > 0 && left === 0) change.mutate({ current, password })
  }
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        {error &&
          !atField &&
          (describeError(error).code === 'TOO_MANY_REQUESTS' ? (
            <SignInError error={error} left={left} />
          ) : (
            <ErrorNote error={error} />
          ))}
        <input type="email" name="email" autoComplete="username" value={user.email} readOnly hidden />
        <PasswordInput
          label={passwordFormText.currentPassword}
          name="current-password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          error={sentence(issueFor(error, 'current'))}
          aria-invalid={issueFor(error, 'current') !== undefined || undefined}
          visibilityToggleButtonProps={{
            'aria-label': passwordFormText.showOrHideTheCurrentPassword,
            tabIndex: 0,
            'aria-hidden': false,
          }}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <NewPassword
          size="sm"
          label={passwordFormText.newPassword}
          value={password}
          onChange={setPassword}
          known={known}
          error={
            sentence(issueFor(error, 'password')) ?? (tried && level === 0 && password !== '' ? advice : undefined)
          }
        />
        <div>
          <Button type="submit" loading={change.isPending} disabled={left > 0}>
            {passwordFormText.changePassword}
          </Button>
        </div>
      </Stack>
    </form>
  )
}

function sentence(issue: string | undefined): string | undefined {
  return issue && passwordFormText.it(issue)
}
