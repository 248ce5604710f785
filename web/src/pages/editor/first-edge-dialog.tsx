import { Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { BlueprintMap } from '../../graph/map'
import { connect, connectInOrder } from './operations'
import { firstEdgeDialogText } from '../../text/editor'
import { commonText } from '../../text/common'

/** An edge that waits for confirmation. */
export type FirstEdge = { source: string; handle: string; target: string }

type Props = {
  map: BlueprintMap
  inLoop: boolean
  edge: FirstEdge | undefined
  onClose: () => void
  onAnswer: (edge: FirstEdge, map: BlueprintMap) => void
}

/** Explains what the first edge of a sequence changes, and offers to convert the order to edges. */
export function FirstEdgeDialog({ map, inLoop, edge, onClose, onAnswer }: Props) {
  const kept = useMemo(
    () => edge && connectInOrder(map, edge.source, edge.handle, edge.target, inLoop),
    [map, inLoop, edge],
  )
  const why =
    kept === undefined
      ? firstEdgeDialogText.thisEdgeContradictsTheCurrent
      : 'problem' in kept
        ? firstEdgeDialogText.theOrderCannotBeKept(kept.problem)
        : undefined
  return (
    <Modal opened={edge !== undefined} onClose={onClose} title={firstEdgeDialogText.changeFromOrderToEdges} size="md">
      {edge && (
        <Stack gap="md">
          <Text size="sm">{firstEdgeDialogText.theNodesCurrentlyRunOneAfter}</Text>
          {why && <Text size="sm">{why}</Text>}
          {kept && 'map' in kept && kept.notes.length > 0 && (
            <div>
              <Text size="sm">{firstEdgeDialogText.keepingTheOrderAlsoMakesThese}</Text>
              <List size="sm" mt={4}>
                {kept.notes.map((note) => (
                  <List.Item key={note}>{note}</List.Item>
                ))}
              </List>
            </div>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {commonText.cancel}
            </Button>
            <Button
              variant={why ? 'filled' : 'default'}
              onClick={() => onAnswer(edge, connect(map, edge.source, edge.handle, edge.target))}
            >
              {firstEdgeDialogText.addOnlyThisEdge}
            </Button>
            {kept && 'map' in kept && (
              <Button data-autofocus onClick={() => onAnswer(edge, kept.map)}>
                {firstEdgeDialogText.keepTheOrderAsEdges}
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
