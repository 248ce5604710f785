import { Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { BlueprintMap } from '../../graph/map'
import { referencesTo, type Expressions } from './references'
import { idProblem } from './rename'
import { renameDialogText } from '../../text/editor'
import { commonText } from '../../text/common'

type Props = {
  map: BlueprintMap
  id: string | undefined
  /** An id that was typed already. */ wanted?: string
  expressions: Expressions
  onClose: () => void
  onRename: (from: string, to: string, everywhere: boolean) => void
}

/** Asks for a new id of a node, and whether to update the references to it. */
export function RenameDialog({ id, onClose, ...rest }: Props) {
  return (
    <Modal opened={id !== undefined} onClose={onClose} title={renameDialogText.renameTheIdOf(id ?? '')} size="md">
      {id !== undefined && <Form key={id} id={id} onClose={onClose} {...rest} />}
    </Modal>
  )
}

function Form({ map, id, wanted, expressions, onClose, onRename }: Props & { id: string }) {
  const [to, setTo] = useState(wanted ?? id)
  const [everywhere, setEverywhere] = useState(true)
  const [references] = useState(() => referencesTo(map, id, expressions))
  const problem = idProblem(map, id, to)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (problem) return
    if (to !== id) onRename(id, to, everywhere)
    onClose()
  }
  const count = references.reduce((sum, each) => sum + each.count, 0)
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label={renameDialogText.id}
          description={renameDialogText.templatesUseTheIdForExample}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={problem}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        {count > 0 ? (
          <Checkbox
            checked={everywhere}
            onChange={(event) => setEverywhere(event.currentTarget.checked)}
            label={renameDialogText.updateReferencesToIt(count)}
            description={[...new Set(references.map((each) => each.nodeId))].slice(0, 8).join(', ')}
          />
        ) : (
          <Text size="sm" c="dimmed">
            {renameDialogText.noTemplateOrExpressionRefersTo}
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" disabled={problem !== undefined}>
            {commonText.rename}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
