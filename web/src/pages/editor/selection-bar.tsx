import { ActionIcon, Menu, Text, Tooltip } from '@mantine/core'
import {
  IconAdjustments,
  IconArrowLeft,
  IconArrowRight,
  IconBook,
  IconClipboard,
  IconCopy,
  IconCut,
  IconDotsVertical,
  IconId,
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

type Action = { label: string; icon: Icon; act: () => void; color?: string; off?: boolean }

/** What can be done with what is chosen, above the canvas. */
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
  const { nodes, edges } = editor.state
  if (nodes.size === 0 && edges.size === 0) return null
  const node = nodes.size === 1 ? map.nodes.find((each) => nodes.has(each.id)) : undefined
  const name = node
    ? node.title || node.id
    : nodes.size > 1
      ? `${nodes.size} nodes`
      : edges.size === 1
        ? wireName([...edges][0]!)
        : `${edges.size} edges`
  const direct: Action[] = []
  const more: Action[] = []
  if (node && onSettings) direct.push({ label: 'Settings', icon: IconAdjustments, act: onSettings })
  if (node && hasBody(node))
    direct.push({ label: 'Open its nodes', icon: IconLogin2, act: () => commands.open(node.id) })
  if (!readOnly) {
    if (node) direct.push({ label: 'Connect to another node', icon: IconLine, act: () => commands.connect(node.id) })
    if (nodes.size > 0) {
      direct.push({ label: 'Duplicate', icon: IconCopy, act: commands.duplicate })
      direct.push({ label: 'Switch off or on', icon: IconPower, act: commands.toggle })
    } else if (edges.size === 1) direct.push({ label: 'Put a node between', icon: IconPlus, act: commands.add })
    direct.push({ label: 'Delete', icon: IconTrash, act: commands.remove, color: 'red' })
  }
  if (nodes.size > 0) more.push({ label: 'Copy', icon: IconClipboard, act: () => void commands.copy() })
  if (!readOnly) {
    if (nodes.size > 0) more.push({ label: 'Cut', icon: IconCut, act: () => void commands.cut() })
    if (node) {
      more.push({ label: 'Change the id', icon: IconId, act: () => commands.rename(node.id) })
      more.push({ label: 'Fill in the example', icon: IconBook, act: () => commands.example(node.id) })
      if (isSequential(map) && map.nodes.length > 1) {
        const index = map.nodes.indexOf(node)
        more.push({
          label: 'Run it earlier',
          icon: IconArrowLeft,
          act: () => commands.reorder(node.id, -1),
          off: index === 0,
        })
        more.push({
          label: 'Run it later',
          icon: IconArrowRight,
          act: () => commands.reorder(node.id, 1),
          off: index === map.nodes.length - 1,
        })
      }
    }
  }
  return (
    <div className={classes.bar} role="toolbar" aria-label="What is chosen" id="editor-selection">
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
            <ActionIcon size={30} aria-label="More">
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
