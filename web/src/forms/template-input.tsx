import { Popover, VisuallyHidden } from '@mantine/core'
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { accept, type Language, type Spot, spotAt, suggest, type Suggestion } from './completion'
import { marksOf } from './marks'
import type { Names } from './names'
import { Suggestions } from './suggestions'
import classes from './text-box.module.css'
import { templateInputText } from '../text/forms'

type Props = {
  id: string
  value: string
  onChange: (text: string) => void
  /** The names to suggest; without it there are no suggestions. */
  names?: Names
  /** `template`: text with placeholders; `expression`: the whole text is an expression. */
  language?: Language
  /** Enter inserts a line break. */
  lines?: boolean
  /** The minimum number of rows. */
  rows?: number
  placeholder?: string
  readOnly?: boolean
  /** Called when the user starts or stops typing. */
  onWriting?: (writing: boolean) => void
  'aria-label'?: string
  'aria-labelledby'?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
  'aria-required'?: boolean
}

/**
 * A text in which `{{` opens a list of suggestions. The list follows the typed text; arrows choose, Enter accepts,
 * Escape closes it, Ctrl+Space opens it again; Tab always leaves the field.
 */
export function TemplateInput({
  id,
  value,
  onChange,
  names,
  language = 'template',
  lines = false,
  rows = 1,
  placeholder,
  readOnly = false,
  onWriting,
  ...aria
}: Props) {
  const box = useRef<HTMLTextAreaElement>(null)
  const list = useId()
  const [spot, setSpot] = useState<Spot>()
  const [active, setActive] = useState(0)
  const caret = useRef<number | undefined>(undefined)
  const suggestions = useMemo(() => (spot && names ? suggest(spot, names) : []), [spot, names])
  const open = spot !== undefined && suggestions.length > 0
  const marks = useMemo(() => marksOf(value, language, names), [value, language, names])

  // The caret is set once the new text is in the box.
  useLayoutEffect(() => {
    if (caret.current === undefined || !box.current) return
    box.current.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  }, [value])
  useEffect(() => {
    if (open) document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: 'nearest' })
  }, [open, active, list])

  const look = (text: string, at: number, asked = false, passing = false) => {
    const next = names && !readOnly ? spotAt(text, at, language) : undefined
    // Typing past a complete name is not interrupted.
    const calm = next && (next.quiet || (passing && !(next.language === 'path' && (next.open || next.query === ''))))
    setSpot(next && (asked || !calm) ? next : undefined)
    setActive(0)
  }
  const take = (suggestion: Suggestion) => {
    if (!spot) return
    const done = accept(value, spot, suggestion)
    caret.current = done.caret
    onChange(done.text)
    box.current?.focus()
    // Members of a name are suggested once the user types on; arguments of a function at once.
    setSpot(undefined)
    setActive(0)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault()
      look(value, event.currentTarget.selectionStart, true)
      return
    }
    if (open) {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key]
      if (step !== undefined) {
        event.preventDefault()
        const wrap = Math.abs(step) === 1
        setActive((at) =>
          wrap
            ? (at + step + suggestions.length) % suggestions.length
            : Math.max(0, Math.min(suggestions.length - 1, at + step)),
        )
        return
      }
      if (event.key === 'Enter') {
        event.preventDefault()
        take(suggestions[active] ?? suggestions[0]!)
        return
      }
      if (event.key === 'Escape') {
        event.preventDefault()
        event.stopPropagation() // keeps the surrounding dialog open
        setSpot(undefined)
        return
      }
    }
    if (event.key === 'Enter' && !lines && !event.ctrlKey && !event.metaKey) event.preventDefault()
  }
  return (
    <Popover
      opened={open}
      width="target"
      position="bottom-start"
      offset={3}
      withinPortal
      shadow="md"
      trapFocus={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      withRoles={false}
      transitionProps={{ duration: 0 }}
      middlewares={{ flip: true, shift: true }}
    >
      <Popover.Target>
        <div
          className={`${classes.box}${language === 'expression' ? ` ${classes.mono}` : ''}`}
          data-error={aria['aria-invalid'] || undefined}
          data-readonly={readOnly || undefined}
        >
          <div className={classes.picture} aria-hidden style={{ '--rows': rows } as React.CSSProperties}>
            <Picture text={value} marks={marks} />
          </div>
          <textarea
            {...aria}
            ref={box}
            id={id}
            data-language={language}
            className={classes.text}
            rows={1}
            value={value}
            readOnly={readOnly}
            placeholder={placeholder}
            spellCheck={language === 'template' && lines}
            autoComplete="off"
            autoCapitalize="off"
            aria-autocomplete={names ? 'list' : undefined}
            aria-haspopup={names ? 'listbox' : undefined}
            aria-controls={open ? list : undefined}
            aria-activedescendant={open ? `${list}-${active}` : undefined}
            onChange={(event) => {
              const text = lines ? event.currentTarget.value : event.currentTarget.value.replace(/\r?\n/g, ' ')
              onChange(text)
              onWriting?.(true)
              look(text, event.currentTarget.selectionStart)
            }}
            onKeyDown={onKeyDown}
            onKeyUp={(event) => {
              if (open && /^(Arrow(Left|Right)|Home|End)$/.test(event.key))
                look(value, event.currentTarget.selectionStart)
            }}
            onClick={(event) => look(value, event.currentTarget.selectionStart, false, true)}
            onBlur={() => {
              setSpot(undefined)
              onWriting?.(false)
            }}
          />
        </div>
      </Popover.Target>
      <Popover.Dropdown p={0} miw={260}>
        <Suggestions id={list} suggestions={suggestions} active={active} onActive={setActive} onTake={take} />
      </Popover.Dropdown>
      <VisuallyHidden role="status">
        {open
          ? `${suggestions.length} ${suggestions.length === 1 ? templateInputText.suggestion : templateInputText.suggestions}`
          : ''}
      </VisuallyHidden>
    </Popover>
  )
}

function Picture({ text, marks }: { text: string; marks: ReturnType<typeof marksOf> }) {
  const parts: React.ReactNode[] = []
  let at = 0
  for (const mark of marks) {
    if (mark.from > at) parts.push(text.slice(at, mark.from))
    parts.push(
      <mark key={mark.from} className={classes[mark.kind]}>
        {text.slice(mark.from, mark.to)}
      </mark>,
    )
    at = mark.to
  }
  parts.push(text.slice(at), '\u200b') // a final empty line has a height too
  return <>{parts}</>
}
