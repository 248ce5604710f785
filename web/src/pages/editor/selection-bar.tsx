import { ActionIcon, Menu, Text, Tooltip } from '@mantine/core'
import {
  IconAdjustments,
  IconArrowLeft,
  IconArrowRight,
  IconBook,
  IconBoxMultiple,
  IconClipboard,
  IconCopy,
  IconCut,
  IconDotsVertical,
  IconId,
  IconLayoutAlignLeft,
  IconLayoutAlignTop,
  IconLayoutDistributeHorizontal,
  IconLayoutDistributeVertical,
  IconLine,
  IconLogin2,
  IconPlus,
  IconPower,
  IconTrash,
  type Icon,
} from '@tabler/icons-react'
import { isSequential } from '../../graph/map'
import type { Commands } from './use-commands'
import classes from './editor.module.css'
import { hasBody } from './nested'
import type { Editor } from './use-editor'
import { selectionBarText } from '../../text/editor'
import { commonText } from '../../text/common'

type Action = { label: string; icon: Icon; act: () => void; color?: string; off?: boolean }

/** The actions for the selection, above the canvas. */
export function SelectionBar({
  editor,
  commands,
  onSettings,
}: {
  editor: Editor
  commands: Commands
  onSettings?: () => void
}) {
  const { shown: map, readOnly } = editor
  const { nodes, edges, notes } = editor.state
  if (nodes.size === 0 && edges.size === 0 && notes.size === 0) return null
  const node = nodes.size === 1 && notes.size === 0 ? map.nodes.find((each) => nodes.has(each.id)) : undefined
  const cards = nodes.size + notes.size
  const name = node
    ? node.title || node.id
    : cards > 0
      ? [
          ...(nodes.size > 0 ? [selectionBarText.nodes(nodes.size)] : []),
          ...(notes.size > 0 ? [selectionBarText.notes(notes.size)] : []),
        ].join(selectionBarText.and)
      : edges.size === 1
        ? isSequential(map)
          ? selectionBarText.inOrder(wireName([...edges][0]!))
          : wireName([...edges][0]!)
        : selectionBarText.edges(edges.size)
  const direct: Action[] = []
  const more: Action[] = []
  if (node && onSettings) direct.push({ label: commonText.settings, icon: IconAdjustments, act: onSettings })
  if (node && hasBody(node))
    direct.push({ label: selectionBarText.openLoopBody, icon: IconLogin2, act: () => commands.open(node.id) })
  if (!readOnly) {
    if (node)
      direct.push({
        label: selectionBarText.connectToAnotherNode,
        icon: IconLine,
        act: () => commands.connect(node.id),
      })
    if (cards > 0) direct.push({ label: selectionBarText.duplicate, icon: IconCopy, act: commands.duplicate })
    if (nodes.size > 0) direct.push({ label: selectionBarText.disableOrEnable, icon: IconPower, act: commands.toggle })
    else if (cards === 0 && edges.size === 1)
      direct.push({ label: selectionBarText.insertANode, icon: IconPlus, act: commands.add })
    direct.push({ label: commonText.delete, icon: IconTrash, act: commands.remove, color: 'red' })
  }
  if (cards > 0) more.push({ label: commonText.copy, icon: IconClipboard, act: () => void commands.copy() })
  if (!readOnly) {
    if (cards > 0) more.push({ label: selectionBarText.cut, icon: IconCut, act: () => void commands.cut() })
    if (nodes.size > 0) more.push({ label: selectionBarText.group, icon: IconBoxMultiple, act: commands.group })
    if (nodes.size > 1) {
      more.push({ label: selectionBarText.alignLeft, icon: IconLayoutAlignLeft, act: () => commands.align('left') })
      more.push({ label: selectionBarText.alignTop, icon: IconLayoutAlignTop, act: () => commands.align('top') })
    }
    if (nodes.size > 2) {
      more.push({
        label: selectionBarText.distributeHorizontally,
        icon: IconLayoutDistributeVertical,
        act: () => commands.distribute('x'),
      })
      more.push({
        label: selectionBarText.distributeVertically,
        icon: IconLayoutDistributeHorizontal,
        act: () => commands.distribute('y'),
      })
    }
    if (node) {
      more.push({ label: selectionBarText.renameId, icon: IconId, act: () => commands.rename(node.id) })
      more.push({ label: selectionBarText.insertTheExample, icon: IconBook, act: () => commands.example(node.id) })
      if (isSequential(map) && map.nodes.length > 1) {
        const index = map.nodes.indexOf(node)
        more.push({
          label: selectionBarText.moveEarlier,
          icon: IconArrowLeft,
          act: () => commands.reorder(node.id, -1),
          off: index === 0,
        })
        more.push({
          label: selectionBarText.moveLater,
          icon: IconArrowRight,
          act: () => commands.reorder(node.id, 1),
          off: index === map.nodes.length - 1,
        })
      }
    }
  }
  return (
    <div className={classes.bar} role="toolbar" aria-label={selectionBarText.selection} id="editor-selection">
      <Text size="sm" fw={600} className={classes.barName}>
        {name}
      </Text>
      {direct.map(({ label, icon: Sign, act, color }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon size={30} color={color} aria-label={label} onClick={act}>
            <Sign size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
      {more.length > 0 && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size={30} aria-label={selectionBarText.moreActions}>
              <IconDotsVertical size={18} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {more.map(({ label, icon: Sign, act, off }) => (
              <Menu.Item key={label} leftSection={<Sign size={16} aria-hidden />} onClick={act} disabled={off}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </div>
  )
}

function wireName(key: string): string {
  const [source, handle, target] = JSON.parse(key) as [string, string, string]
  return handle === 'main' ? `${source} → ${target}` : `${source} (${handle}) → ${target}`
}
