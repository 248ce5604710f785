import { Button, Textarea, type TextareaProps } from '@mantine/core'
import { useState } from 'react'
import { parseJson, show } from '../api/json'
import { checkJson } from './json-check'
import classes from './json-input.module.css'
import { jsonInputText } from '../text/parts'

type Props = Omit<TextareaProps, 'value' | 'onChange' | 'error'> & {
  label: string
  /** The text; the page holds it, so that an incomplete one is kept. */
  value: string
  onChange: (text: string) => void
  /** An error of the server, shown if the text itself is valid. */
  error?: string
  /** Allows an empty text, which means no value. */
  optional?: boolean
}

/** A field for JSON that shows where a fault is, and can format the text. Parse the value with parseJson(text). */
export function JsonInput({ label, value, onChange, error, optional = false, description, ...rest }: Props) {
  const [left, setLeft] = useState(false) // a fault is not shown while the first letters are typed
  const empty = value.trim() === ''
  const fault = empty && optional ? undefined : checkJson(value)
  const shown = fault && (left || !empty) ? jsonInputText.lineColumn(fault.line, fault.column, fault.message) : error
  const tidy = () => {
    if (!fault && !empty) onChange(show(parseJson(value)))
  }
  return (
    <Textarea
      {...rest}
      label={label}
      description={description}
      value={value}
      error={shown}
      spellCheck={false}
      autoComplete="off"
      autosize
      minRows={rest.minRows ?? 4}
      maxRows={rest.maxRows ?? 24}
      classNames={{ input: classes.input }}
      inputContainer={(input) => (
        <div className={classes.box}>
          {input}
          <Button
            variant="default"
            size="compact-xs"
            className={classes.format}
            disabled={Boolean(fault) || empty}
            onClick={tidy}
          >
            {jsonInputText.format}
          </Button>
        </div>
      )}
      onChange={(event) => onChange(event.currentTarget.value)}
      onBlur={(event) => {
        setLeft(true)
        rest.onBlur?.(event)
      }}
    />
  )
}
