import { useMemo } from 'react'
import type { BlueprintMap, MapNode } from '../../graph/map'
import type { WireEdge } from '../../graph/flow'
import { HEAD, WIDTH } from '../../graph/sizes'
import { useTriggersOf } from '../triggers/use-triggers'
import { nameOf } from '../triggers/kinds'
import type { Trigger } from '../triggers/types'
import { ADD, CARD, columnOf, wiresOf } from './trigger-column'
import type { BesideNode } from './trigger-cards'
import { besideText } from '../../text/editor'

const FIRST = 'add-first'
// The first ones; the others are on the page of the triggers.
const most = 12

type Props = {
  map: BlueprintMap
  blueprintId: string
  /** Only a map of the top level has triggers, and the server lists them for managers only. */
  shown: boolean
  readOnly: boolean
  /** The id of the trigger whose panel is open; "" if one is being added. */
  open: string | undefined
}

/** What the canvas shows left of the nodes: the triggers of the blueprint, and their wires. Undefined for nothing. */
export function useBeside({ map, blueprintId, shown, readOnly, open }: Props) {
  const { rows, total, error } = useTriggersOf(shown ? blueprintId : '', 0, most)
  return useMemo(() => {
    const triggers = rows ?? []
    // Until they are loaded, nothing says that there is none. The view leaves space for one.
    const known = rows !== undefined || Boolean(error)
    const column = shown ? columnOf(map, known ? triggers.length : 1, !readOnly) : undefined
    if (!column) return undefined
    const still = {
      draggable: false,
      selectable: false,
      focusable: false,
      deletable: false,
      connectable: false,
    } as const
    const sized = ({ width, height }: typeof CARD) => ({
      ...still,
      width,
      height,
      measured: { width, height },
      handles: [
        { type: 'source' as const, position: 'right' as never, x: width - 4, y: height / 2 - 4, width: 8, height: 8 },
      ],
    })
    const cards: BesideNode[] = triggers.map((trigger, index) => ({
      ...sized(CARD),
      id: `trigger ${trigger.id}`,
      type: 'trigger',
      position: column.cards[index]!,
      data: { trigger, open: open === trigger.id },
    }))
    if (column.add && known)
      cards.push({
        ...sized(ADD),
        id: 'add-trigger',
        type: 'add-trigger',
        position: column.add,
        data: {
          open: open === '',
          wired: triggers.length === 0,
          more: total > most ? `/blueprints/${blueprintId}/triggers` : undefined,
        },
      })
    const sources = cards.slice(0, Math.max(1, triggers.length)).map(({ id }) => id)
    const starts = map.nodes.length > 0 ? wiresOf(map, sources) : sources.map((source) => ({ source, target: FIRST }))
    if (map.nodes.length === 0)
      cards.push({
        ...still,
        id: FIRST,
        type: 'add-first',
        position: { x: 0, y: 0 },
        width: WIDTH,
        height: HEAD,
        measured: { width: WIDTH, height: HEAD },
        handles: [{ type: 'target', position: 'left' as never, x: -4, y: HEAD / 2 - 4, width: 8, height: 8 }],
        data: {},
      })
    const wires: WireEdge[] = starts.map(({ source, target }) => ({
      id: `${source} ${target}`,
      type: 'wire',
      source,
      target,
      selectable: false,
      focusable: false,
      reconnectable: false,
      deletable: false,
      ...wireWords(
        triggers.find(({ id }) => source === `trigger ${id}`),
        map.nodes.find(({ id }) => id === target),
      ),
      data: { beside: triggers.length > 0 ? 'trigger' : 'none' },
    }))
    return { cards, wires, bounds: column.bounds }
  }, [map, rows, total, error, shown, readOnly, blueprintId, open])
}

export type Beside = NonNullable<ReturnType<typeof useBeside>>

// The wire as a sentence; those of the cards that add something say nothing.
function wireWords(trigger: Trigger | undefined, node: MapNode | undefined): Partial<WireEdge> {
  return trigger && node
    ? { ariaLabel: besideText.starts(nameOf(trigger), node.title || node.id) }
    : { domAttributes: { 'aria-hidden': true } }
}
