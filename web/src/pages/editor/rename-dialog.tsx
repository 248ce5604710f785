import { Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { BlueprintMap } from '../../graph/map'
import { referencesTo, type Expressions } from './references'
import { idProblem } from './rename'

type Props = {
  map: BlueprintMap
  id: string | undefined
  /** An id that was typed already. */ wanted?: string
  expressions: Expressions
  onClose: () => void
  onRename: (from: string, to: string, everywhere: boolean) => void
}

/** Asks for another id of a node, and whether what names it shall follow. */
export function RenameDialog({ id, onClose, ...rest }: Props) {
  return (
    <Modal opened={id !== undefined} onClose={onClose} title={`Change the id of ${id ?? ''}`} size="md">
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
          label="Id"
          description="Templates name the node by it: nodes.id.output"
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
            label={`Change it in the ${count === 1 ? 'place' : `${count} places`} that ${count === 1 ? 'names' : 'name'} it too`}
            description={[...new Set(references.map((each) => each.nodeId))].slice(0, 8).join(', ')}
          />
        ) : (
          <Text size="sm" c="dimmed">
            No template or expression names it. Edges follow by themselves.
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={problem !== undefined}>
            Change
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
