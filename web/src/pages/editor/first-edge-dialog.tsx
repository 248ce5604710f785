import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { BlueprintMap } from '../../graph/map'
import { fitsChain } from './operations'

/** An edge that waits for an answer. */
export type FirstEdge = { source: string; handle: string; target: string }

type Props = { map: BlueprintMap; edge: FirstEdge | undefined; onClose: () => void; onAnswer: (edge: FirstEdge, chained: boolean) => void }

/** Says, before the first edge of a list of nodes is made, what it changes, and offers to write the order out as edges. */
export function FirstEdgeDialog({ map, edge, onClose, onAnswer }: Props) {
  const fits = edge !== undefined && fitsChain(map, edge.source, edge.target)
  return (
    <Modal opened={edge !== undefined} onClose={onClose} title="From a list to a graph" size="md">
      {edge && (
        <Stack gap="md">
          <Text size="sm">
            So far the nodes run one after the other, in the order of the list. With the first edge that order no longer counts: only edges say what follows what, and a node that no edge leads to starts at once.
          </Text>
          {!fits && <Text size="sm">This edge goes against the present order, so both cannot be kept.</Text>}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>Cancel</Button>
            <Button variant={fits ? 'default' : 'filled'} onClick={() => onAnswer(edge, false)}>Only this edge</Button>
            {fits && <Button data-autofocus onClick={() => onAnswer(edge, true)}>Keep the order as edges</Button>}
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
