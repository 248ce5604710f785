import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { readClip } from './paste'
import { pasteDialogText } from '../../text/editor'
import { commonText } from '../../text/common'

type Props = { opened: boolean; onClose: () => void; onPaste: (text: string) => void }

/** Accepts nodes as text if the browser does not let a button read the clipboard. */
export function PasteDialog({ opened, onClose, onPaste }: Props) {
  const [text, setText] = useState('')
  const read = text.trim() === '' ? undefined : readClip(text)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!read || 'problem' in read) return
    onPaste(text)
    setText('')
    onClose()
  }
  return (
    <Modal opened={opened} onClose={onClose} title={pasteDialogText.pasteNodes} size="lg">
      <form onSubmit={submit}>
        <Stack gap="md">
          <Textarea
            label={pasteDialogText.nodesAsJson}
            description={pasteDialogText.copiedNodesABlueprintFileOr}
            autosize
            minRows={6}
            maxRows={16}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            error={read && 'problem' in read ? read.problem : undefined}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
            spellCheck={false}
            data-autofocus
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {commonText.cancel}
            </Button>
            <Button type="submit" disabled={!read || 'problem' in read}>
              {pasteDialogText.paste}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
