import { IconHexagon } from '@tabler/icons-react'
import { lookOf } from './looks'
import { type NodeType, typeIn } from './node-types'
import { useNodeTypesLater } from './use-node-types'

/** The colours of the catalogue's categories. */
const tones: Record<NodeType['category'], string> = {
  flow: 'violet',
  data: 'petrol',
  people: 'amber',
  services: 'blue',
  events: 'green',
}

/** The icon of a node type on a tile of its category's colour; grey while the catalogue is loading, and for unknown types. */
export function TypeIcon({ type, size = 32 }: { type: string; size?: number }) {
  const category = typeIn(useNodeTypesLater().data, type)?.category
  const Sign = lookOf(type).icon ?? IconHexagon
  const tone = category ? tones[category] : 'gray'
  return (
    <span
      aria-hidden
      style={{
        display: 'grid',
        placeItems: 'center',
        flex: 'none',
        width: size,
        height: size,
        borderRadius: 7,
        background: `var(--mantine-color-${tone}-light)`,
        color: `var(--mantine-color-${tone}-light-color)`,
      }}
    >
      <Sign size={Math.round(size * 0.6)} stroke={1.7} />
    </span>
  )
}
