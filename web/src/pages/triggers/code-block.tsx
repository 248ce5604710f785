import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import classes from './triggers.module.css'
import { codeBlockText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** Text to copy, with its line breaks. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <figure className={classes.code} aria-label={label}>
      <pre tabIndex={0} aria-label={label} role="region">
        {text}
      </pre>
      <CopyButton value={text} timeout={2000}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? commonText.copied : commonText.copy}>
            <ActionIcon
              className={classes.copy}
              aria-label={codeBlockText.copy(label)}
              onClick={copy}
              color={copied ? 'green' : 'gray'}
            >
              {copied ? <IconCheck size={17} aria-hidden /> : <IconCopy size={17} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </figure>
  )
}
