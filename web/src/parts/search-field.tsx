import { CloseButton, Kbd, TextInput, type TextInputProps } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { searchFieldText } from '../text/parts'

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'label'> & {
  /** The label: `Search blueprints`. */
  label: string
  value: string
  /** Called a moment after the last keystroke. */
  onSearch: (text: string) => void
  /** The delay in milliseconds. */
  delay?: number
}

/** A field that searches while the user types; the key / focuses it, Escape clears it. */
export function SearchField({ label, value, onSearch, delay = 250, ...rest }: Props) {
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The address changed (back, a link): its value replaces the typed one.
  if (value !== known) {
    setKnown(value)
    setText(value)
  }

  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])

  const search = (next: string, soon: boolean) => {
    setText(next)
    clearTimeout(timer.current)
    const emit = () => {
      setKnown(next)
      onSearch(next)
    }
    if (soon) emit()
    else timer.current = setTimeout(emit, delay)
  }
  return (
    <TextInput
      {...rest}
      ref={field}
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      maxLength={500}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        text ? (
          <CloseButton
            size="sm"
            aria-label={searchFieldText.clearSearch}
            onClick={() => {
              search('', true)
              field.current?.focus()
            }}
          />
        ) : (
          <Kbd size="xs" aria-hidden visibleFrom="sm">
            /
          </Kbd>
        )
      }
      onChange={(event) => search(event.currentTarget.value, false)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') search(text, true)
        if (event.key === 'Escape' && text) search('', true)
      }}
    />
  )
}

function writes(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
      target.closest('[role=dialog]') !== null)
  )
}
