import { Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { type BlueprintMap, type Change, GraphView, type GraphDiff } from '../../graph'
import { edgeKey, edgesOf } from '../../graph/map'
import { same } from './same'
import type { Doc } from './state'
import { type Blueprint, docOf } from './use-save'
import { conflictDialogText } from '../../text/editor'

type Props = {
  theirs: Blueprint | undefined
  ours: Doc
  saving: boolean
  onOverwrite: () => void
  onReload: () => void
  onClose: () => void
}

/** Reports that another user saved in the meantime, and offers to keep either version. */
export function ConflictDialog({ theirs, ours, saving, onOverwrite, onReload, onClose }: Props) {
  const [shown, setShown] = useState(false)
  const found = useMemo(() => (theirs ? compare(docOf(theirs).map, ours.map) : undefined), [theirs, ours])
  return (
    <Modal
      opened={theirs !== undefined}
      onClose={onClose}
      title={conflictDialogText.aNewerVersionWasSaved}
      size={shown ? 'xl' : 'lg'}
    >
      {theirs && found && (
        <Stack gap="md">
          <Text size="sm">{conflictDialogText.versionWasSavedAfterYouStarted(theirs.version)}</Text>
          <List size="sm">
            {found.lines.map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
            {!same(theirs.environment_variables, ours.variables) && (
              <List.Item>{conflictDialogText.theVariablesDiffer}</List.Item>
            )}
          </List>
          {shown && (
            <GraphView map={found.both} diff={found.diff} height={320} label={conflictDialogText.differences} />
          )}
          <div>
            <Button variant="subtle" size="compact-sm" ml={-8} onClick={() => setShown(!shown)} aria-expanded={shown}>
              {shown ? conflictDialogText.hideDifferences : conflictDialogText.showDifferences}
            </Button>
          </div>
          <Group gap="xs" justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {conflictDialogText.continueEditing}
            </Button>
            <Button variant="default" color="red" onClick={onReload}>
              {conflictDialogText.discardMineAndLoadTheirs}
            </Button>
            <Button loading={saving} onClick={onOverwrite}>
              {conflictDialogText.saveMineAsANewVersion}
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            {conflictDialogText.theirVersionStaysInTheVersion}
          </Text>
        </Stack>
      )}
    </Modal>
  )
}

function compare(theirs: BlueprintMap, ours: BlueprintMap): { lines: string[]; both: BlueprintMap; diff: GraphDiff } {
  const nodes = new Map<string, Change>()
  const edges = new Map<string, Change>()
  const old = new Map(theirs.nodes.map((node) => [node.id, node]))
  const mine = new Set(ours.nodes.map((node) => node.id))
  const lists: Record<'added' | 'removed' | 'changed', string[]> = { added: [], removed: [], changed: [] }
  for (const node of ours.nodes) {
    const other = old.get(node.id)
    const change = !other ? 'added' : same({ ...other, position: 0 }, { ...node, position: 0 }) ? undefined : 'changed'
    if (!change) continue
    nodes.set(node.id, change)
    lists[change].push(node.title || node.id)
  }
  const gone = theirs.nodes.filter((node) => !mine.has(node.id))
  for (const node of gone) {
    nodes.set(node.id, 'removed')
    lists.removed.push(node.title || node.id)
  }
  const [before, after] = [edgesOf(theirs), edgesOf(ours)]
  const [oldKeys, newKeys] = [new Set(before.map(edgeKey)), new Set(after.map(edgeKey))]
  const lost = before.filter((edge) => !newKeys.has(edgeKey(edge)))
  for (const edge of after) if (!oldKeys.has(edgeKey(edge))) edges.set(edgeKey(edge), 'added')
  for (const edge of lost) edges.set(edgeKey(edge), 'removed')
  const words = {
    added: conflictDialogText.onlyInYours,
    removed: conflictDialogText.onlyInTheirs,
    changed: conflictDialogText.different,
  }
  const lines = (['added', 'removed', 'changed'] as const)
    .filter((kind) => lists[kind].length > 0)
    .map(
      (kind) =>
        `${words[kind]}: ${lists[kind].slice(0, 8).join(', ')}${lists[kind].length > 8 ? conflictDialogText.andMore(lists[kind].length - 8) : ''}`,
    )
  if (edges.size > 0) lines.push(conflictDialogText.edgesDiffer(edges.size))
  if (lines.length === 0) lines.push(conflictDialogText.onlyNodePositionsOrOrderDiffer)
  const both = { ...ours, nodes: [...ours.nodes, ...gone], edges: [...after, ...lost] }
  return { lines, both, diff: { nodes, edges } }
}
