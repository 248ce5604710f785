import { PasswordInput, Text } from '@mantine/core'
import { useId } from 'react'
import { strengthOf } from './password-strength'
import classes from './sign-in.module.css'
import { newPasswordText } from '../../text/sign-in'

type Props = {
  value: string
  onChange: (value: string) => void
  /** Texts that a password should not contain: the email, the name. */
  known?: string[]
  label?: string
  /** The server's error about it. */
  error?: string
  size?: 'sm' | 'md'
  autoFocus?: boolean
}

/** A field for a new password: it rates the password, and can show it. */
export function NewPassword({
  value,
  onChange,
  known,
  label = newPasswordText.password,
  error,
  size = 'md',
  autoFocus,
}: Props) {
  const id = useId()
  const field = useId()
  const { level, word, advice } = strengthOf(value, known)
  return (
    <div>
      <PasswordInput
        id={field}
        label={label}
        name="new-password"
        autoComplete="new-password"
        required
        withAsterisk={false}
        size={size}
        autoFocus={autoFocus}
        error={error}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={error === undefined ? id : `${field}-error ${id}`}
        visibilityToggleButtonProps={{
          'aria-label': newPasswordText.showOrHideThePassword,
          tabIndex: 0,
          'aria-hidden': false,
        }}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <div className={classes.meter} data-level={level} aria-hidden>
        <span />
        <span />
        <span />
        <span />
      </div>
      <Text id={id} size="xs" c="dimmed" className={classes.strength} aria-live="polite">
        {/* A field with an error already says that it is too short. */}
        {word && (error === undefined || level > 0) && (
          <Text span fw={600} c="var(--mantine-color-text)" inherit>
            {word}.{' '}
          </Text>
        )}
        {advice !== error && advice}
      </Text>
    </div>
  )
}
