import { Button } from '@mantine/core'
import { type KeyboardEvent, useLayoutEffect, useRef } from 'react'
import classes from './code-box.module.css'
import { type Edited, indent, newLine, outdent } from './indent'
import { codeBoxText } from '../text/forms'

type Props = {
  id: string
  value: string
  onChange: (text: string) => void
  readOnly?: boolean
  rows?: number
  /** A line with an error, from 1. */
  errorLine?: number
  /** An error in the text itself. */
  message?: string
  /** The text is a program, which names values as expressions do. */
  program?: boolean
  /** Shows a button that formats the text. */
  onFormat?: () => void
  placeholder?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
  'aria-required'?: boolean
}

/**
 * Source code: monospace, with line numbers. Tab indents lines; after Escape the next Tab leaves the box, so that the
 * keyboard is never trapped.
 */
export function CodeBox({
  id,
  value,
  onChange,
  readOnly,
  rows = 6,
  errorLine,
  message,
  program,
  onFormat,
  placeholder,
  ...aria
}: Props) {
  const box = useRef<HTMLTextAreaElement>(null)
  const selection = useRef<{ from: number; to: number } | undefined>(undefined)
  const leaving = useRef(false)
  const lines = value.split('\n').length
  useLayoutEffect(() => {
    if (selection.current) box.current?.setSelectionRange(selection.current.from, selection.current.to)
    selection.current = undefined
  }, [value])
  const edit = (change: (edited: Edited) => Edited) => {
    const { selectionStart: from, selectionEnd: to } = box.current!
    const next = change({ text: value, from, to })
    selection.current = { from: next.from, to: next.to }
    onChange(next.text)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.nativeEvent.isComposing
    if (event.key === 'Escape') {
      if (!leaving.current) event.stopPropagation() // the first Escape frees Tab, the second closes the surrounding dialog
      leaving.current = !leaving.current
      return
    }
    if (event.key === 'Tab' && plain && !readOnly && !leaving.current) {
      event.preventDefault()
      edit(event.shiftKey ? outdent : indent)
    } else if (event.key === 'Enter' && plain && !readOnly && !event.shiftKey) {
      event.preventDefault()
      edit(newLine)
    }
    if (event.key !== 'Shift') leaving.current = false
  }
  return (
    <div>
      <div className={classes.box} data-error={aria['aria-invalid'] || undefined} data-readonly={readOnly || undefined}>
        <div className={classes.numbers} aria-hidden>
          {Array.from({ length: lines }, (_, index) => (
            <div key={index} data-error={index + 1 === errorLine || undefined}>
              {index + 1}
            </div>
          ))}
        </div>
        <textarea
          {...aria}
          ref={box}
          id={id}
          data-language={program ? 'code' : undefined}
          className={classes.text}
          value={value}
          rows={Math.max(rows, lines)}
          readOnly={readOnly}
          placeholder={placeholder}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          wrap="off"
          onChange={(event) => onChange(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onFocus={() => {
            leaving.current = false
          }}
        />
      </div>
      <div className={classes.below}>
        <span className={message ? classes.message : classes.hint} aria-live="polite">
          {message ?? (readOnly ? '' : codeBoxText.pressEscThenTabToLeave)}
        </span>
        {onFormat && !readOnly && (
          <Button variant="subtle" color="gray" size="compact-xs" onClick={onFormat}>
            {codeBoxText.format}
          </Button>
        )}
      </div>
    </div>
  )
}
