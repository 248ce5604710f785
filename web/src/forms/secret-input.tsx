import { PasswordInput } from '@mantine/core'
import { secretInputText } from '../text/forms'

type Props = {
  id: string
  value: string
  onChange: (text: string) => void
  /** A value is stored already; typed text replaces it. */
  stored?: boolean
  readOnly?: boolean
  'aria-label'?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
  'aria-required'?: boolean
}

/** A secret that is written but never shown. The attributes keep password managers from filling it in. */
export function SecretInput({ stored, value, onChange, ...rest }: Props) {
  return (
    <PasswordInput
      {...rest}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      placeholder={stored ? (rest.readOnly ? secretInputText.set : secretInputText.setTypeToReplace) : undefined}
      autoComplete="new-password"
      spellCheck={false}
      error={rest['aria-invalid'] || undefined}
      visibilityToggleButtonProps={{ 'aria-label': secretInputText.showOrHideTheValue }}
      data-1p-ignore
      data-lpignore="true"
    />
  )
}
