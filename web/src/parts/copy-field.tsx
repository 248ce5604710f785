import { ActionIcon, CopyButton, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconCopy, IconEye, IconEyeOff } from '@tabler/icons-react'
import { useId, useState } from 'react'
import classes from './copy-field.module.css'
import { copyFieldText } from '../text/parts'
import { commonText } from '../text/common'

type Props = {
  value: string
  /** The label, shown above the field and read by screen readers: `Webhook address`. */
  label: string
  /** Hides the label visually. */
  hideLabel?: boolean
  /** Masks the value with dots until it is revealed. Copying works either way. */
  secret?: boolean
  /** The masked value; dots by default. Useful for a command that contains a secret. */
  mask?: string
}

/** A value to copy: monospace, with a copy button. */
export function CopyField({ value, label, hideLabel = false, secret = false, mask = '•'.repeat(24) }: Props) {
  const [open, setOpen] = useState(!secret)
  const id = useId()
  return (
    <div
      className={classes.field}
      role="group"
      aria-labelledby={hideLabel ? undefined : id}
      aria-label={hideLabel ? label : undefined}
    >
      {!hideLabel && (
        <div id={id} className={classes.label}>
          {label}
        </div>
      )}
      <div className={classes.box}>
        <code className={classes.value}>
          {open ? value : mask}
          {!open && <VisuallyHidden> {copyFieldText.hidden}</VisuallyHidden>}
        </code>
        {secret && (
          <ActionIcon
            aria-label={open ? copyFieldText.hide(lower(label)) : copyFieldText.show(lower(label))}
            onClick={() => setOpen(!open)}
          >
            {open ? <IconEyeOff size={17} aria-hidden /> : <IconEye size={17} aria-hidden />}
          </ActionIcon>
        )}
        <CopyButton value={value} timeout={2000}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? commonText.copied : commonText.copy}>
              <ActionIcon
                aria-label={copyFieldText.copy(lower(label))}
                onClick={copy}
                color={copied ? 'green' : 'gray'}
              >
                {copied ? <IconCheck size={17} aria-hidden /> : <IconCopy size={17} aria-hidden />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyButton>
      </div>
    </div>
  )
}

// Lower-cases a label within a sentence: `Webhook address`, but not `API key`.
function lower(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label
}
