import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { connectable, usedHandles } from '../../graph/handles'
import type { BlueprintMap } from '../../graph/map'
import { flowOrder } from '../../graph/order'
import { connectProblem } from './operations'
import { connectDialogText } from '../../text/editor'
import { commonText } from '../../text/common'

type Props = {
  map: BlueprintMap
  id: string | undefined
  onClose: () => void
  onConnect: (source: string, handle: string, target: string) => void
}

/** Connects two nodes without a mouse. */
export function ConnectDialog({ map, id, onClose, onConnect }: Props) {
  const node = map.nodes.find((each) => each.id === id)
  return (
    <Modal
      opened={node !== undefined}
      onClose={onClose}
      title={connectDialogText.connect(node?.title || (id ?? ''))}
      size="md"
    >
      {node && <Form key={node.id} map={map} id={node.id} onClose={onClose} onConnect={onConnect} />}
    </Modal>
  )
}

function Form({ map, id, onClose, onConnect }: Props & { id: string }) {
  const node = map.nodes.find((each) => each.id === id)!
  const ways = connectable(node, usedHandles(map).get(id))
  const [way, setWay] = useState(ways[0]!.id)
  const [target, setTarget] = useState<string | null>(null)
  const nodes = new Map(map.nodes.map((each) => [each.id, each]))
  const problem = target === null ? undefined : connectProblem(map, id, way, target)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (target === null || problem) return
    onClose()
    onConnect(id, way, target)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {ways.length > 1 && (
          <Select
            label={commonText.output}
            data={ways.map((each) => ({
              value: each.id,
              label: each.id === 'main' ? connectDialogText.always : each.label,
            }))}
            value={way}
            onChange={(value) => setWay(value ?? way)}
            allowDeselect={false}
          />
        )}
        <Select
          label={connectDialogText.to}
          placeholder={connectDialogText.chooseANode}
          searchable
          selectFirstOptionOnChange
          selectFirstOptionOnDropdownOpen
          data-autofocus
          openOnFocus={false}
          nothingFoundMessage={connectDialogText.noNodesFound}
          value={target}
          onChange={setTarget}
          error={problem}
          limit={200}
          data={flowOrder(map)
            .filter((each) => each !== id)
            .map((each) => ({
              value: each,
              label:
                nodes.get(each)!.title && nodes.get(each)!.title !== each
                  ? `${nodes.get(each)!.title} (${each})`
                  : each,
            }))}
        />
        {map.nodes.length < 2 && (
          <Text size="sm" c="dimmed">
            {connectDialogText.thereIsNoOtherNodeYet}
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" disabled={target === null || problem !== undefined}>
            {connectDialogText.connect2}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
