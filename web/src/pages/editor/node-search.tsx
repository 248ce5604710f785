import { Popover } from '@mantine/core'
import { connectable } from '../../graph/handles'
import type { BlueprintMap } from '../../graph/map'
import type { NodeType } from '../../graph/node-types'
import { Catalogue } from './catalogue'
import classes from './editor.module.css'
import type { Spot } from './use-commands'
import { nodeSearchText } from '../../text/editor'

/** An open search: its place in the graph's area, in pixels, and where the chosen node comes. */
export type Search = { x: number; y: number; spot: Spot }

type Props = {
  search: Search
  map: BlueprintMap
  types: NodeType[]
  onClose: () => void
  onChoose: (type: NodeType, spot: Spot) => void
}

/** The search for a node type beside a handle or where an edge was dropped. */
export function NodeSearch({ search: { x, y, spot }, map, types, onClose, onChoose }: Props) {
  const titled = (id: string) => map.nodes.find((node) => node.id === id)?.title || id
  const outputs = (id: string, handle: string) => {
    const node = map.nodes.find((each) => each.id === id)
    return (node && connectable(node).find((each) => each.id === handle)?.label) ?? handle
  }
  const where =
    'source' in spot
      ? nodeSearchText.after(titled(spot.source), outputs(spot.source, spot.handle))
      : 'target' in spot
        ? nodeSearchText.before(titled(spot.target))
        : ''
  return (
    <Popover
      opened
      onDismiss={onClose}
      position="right-start"
      offset={4}
      width={280}
      shadow="md"
      trapFocus
      withRoles={false} // the anchor is not a control
      returnFocus
      middlewares={{ flip: true, shift: { padding: 8 } }}
    >
      <Popover.Target>
        <span className={classes.anchor} style={{ left: x, top: y }} />
      </Popover.Target>
      <Popover.Dropdown p={0} className={classes.search} role="dialog" aria-label={nodeSearchText.addANode}>
        <Catalogue types={types} where={where} draggable={false} autoFocus onAdd={(type) => onChoose(type, spot)} />
      </Popover.Dropdown>
    </Popover>
  )
}
