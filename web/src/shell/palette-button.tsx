import { ActionIcon } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { later } from '../parts/later'
import { commandPaletteText } from '../text/shell'

const { Component: CommandPalette } = later(() => import('./command-palette'))

/** The button of the command palette, which Ctrl+K opens as well. Its code is loaded when it is first opened. */
export function PaletteButton() {
  const [opened, setOpened] = useState(false)
  const [used, setUsed] = useState(false)
  if (opened && !used) setUsed(true)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      setOpened((was) => !was)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  return (
    <>
      <ActionIcon aria-label={commandPaletteText.goTo} aria-keyshortcuts="Control+K" onClick={() => setOpened(true)}>
        <IconSearch size={19} stroke={1.7} aria-hidden />
      </ActionIcon>
      {used && <CommandPalette opened={opened} onClose={() => setOpened(false)} />}
    </>
  )
}
