import { Button, PasswordInput } from '@mantine/core'
import { newSecret } from './signature'
import classes from './triggers.module.css'
import { secretFieldText } from '../../text/triggers'

type Props = {
  label: string
  description: string
  value: string
  onChange: (secret: string | undefined) => void
  error?: string
  /** Offers a new secret in the format of the preset. */ generate?: string
}

/** A secret that managers can read, with a button that generates one. */
export function SecretField({ label, description, value, onChange, error, generate }: Props) {
  return (
    <div className={classes.row} style={error ? { alignItems: 'center' } : undefined}>
      <PasswordInput
        label={label}
        description={description}
        value={value}
        error={error}
        aria-invalid={error !== undefined || undefined}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
        style={{ flex: '4 1 260px' }}
        autoComplete="new-password"
        spellCheck={false}
        data-1p-ignore
        data-lpignore="true"
        visibilityToggleButtonProps={{ 'aria-label': secretFieldText.showOrHideTheSecret }}
      />
      {generate !== undefined && (
        <Button className={classes.fixed} variant="default" onClick={() => onChange(newSecret(generate))}>
          {secretFieldText.generate}
        </Button>
      )}
    </div>
  )
}
