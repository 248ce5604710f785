import { Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { BlueprintMap } from '../../graph/map'
import { connect, connectInOrder } from './operations'

/** An edge that waits for an answer. */
export type FirstEdge = { source: string; handle: string; target: string }

type Props = {
  map: BlueprintMap
  inLoop: boolean
  edge: FirstEdge | undefined
  onClose: () => void
  onAnswer: (edge: FirstEdge, map: BlueprintMap) => void
}

/** Says, before the first edge of a sequence is made, what it changes, and offers to keep the order as edges. */
export function FirstEdgeDialog({ map, inLoop, edge, onClose, onAnswer }: Props) {
  const kept = useMemo(
    () => edge && connectInOrder(map, edge.source, edge.handle, edge.target, inLoop),
    [map, inLoop, edge],
  )
  const why =
    kept === undefined
      ? 'This edge goes against the present order, so the order cannot be kept.'
      : 'problem' in kept
        ? `${kept.problem} The order cannot be kept.`
        : undefined
  return (
    <Modal opened={edge !== undefined} onClose={onClose} title="From a sequence to a graph" size="md">
      {edge && (
        <Stack gap="md">
          <Text size="sm">
            So far the nodes run one after the other. With the first edge, only edges say what follows what, and a node
            that no edge leads to starts at once.
          </Text>
          {why && <Text size="sm">{why}</Text>}
          {kept && 'map' in kept && kept.notes.length > 0 && (
            <div>
              <Text size="sm">Keeping the order also changes this:</Text>
              <List size="sm" mt={4}>
                {kept.notes.map((note) => (
                  <List.Item key={note}>{note}</List.Item>
                ))}
              </List>
            </div>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              variant={why ? 'filled' : 'default'}
              onClick={() => onAnswer(edge, connect(map, edge.source, edge.handle, edge.target))}
            >
              Only this edge
            </Button>
            {kept && 'map' in kept && (
              <Button data-autofocus onClick={() => onAnswer(edge, kept.map)}>
                Keep the order as edges
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
