import type { Node, NodeProps } from '@xyflow/react'
import { memo } from 'react'
import { cardText } from '../text/graph'
import type { BlueprintMap, Position } from './map'
import classes from './note-cards.module.css'
import { frameOf, type Group, groupsOf, type Note, notesOf } from './notes'

type NoteNode = Node<{ note: Note }, 'note'>
type FrameNode = Node<{ group: Group }, 'frame'>
/** The cards that have no meaning for a run. */
export type ShownMark = NoteNode | FrameNode

/** A note that is only read. */
export const ShownNote = memo(function ShownNote({ data: { note } }: NodeProps<NoteNode>) {
  return (
    <div className={classes.note} role="note" aria-label={cardText.note} data-still>
      <div className={`${classes.text} nowheel`}>{note.text}</div>
    </div>
  )
})

/** The frame of a group that is only read. */
export const ShownFrame = memo(function ShownFrame({ data: { group } }: NodeProps<FrameNode>) {
  return (
    <div className={classes.frame}>
      <div className={classes.title} data-still>
        {group.title}
      </div>
    </div>
  )
})

/**
 * The notes and groups of a map as cards behind the nodes, which are only read. `moving` holds the places of what is
 * being dragged.
 */
export function toMarks(map: BlueprintMap, moving?: ReadonlyMap<string, Position>): ShownMark[] {
  const still = { selectable: false, focusable: false, draggable: false } as const
  const sized = (width: number, height: number) => ({ width, height, measured: { width, height } })
  const frames = groupsOf(map).map((group): ShownMark => {
    const { left, top, right, bottom } = frameOf(map, group, moving)
    return {
      ...still,
      ...sized(right - left, bottom - top),
      id: `group ${group.id}`,
      type: 'frame',
      position: { x: left, y: top },
      zIndex: -2,
      style: { pointerEvents: 'none' },
      data: { group },
    }
  })
  const notes = notesOf(map).map((note): ShownMark => ({
    ...still,
    ...sized(note.size.width, note.size.height),
    id: `note ${note.id}`,
    type: 'note',
    position: moving?.get(`note ${note.id}`) ?? note.position,
    zIndex: -1,
    data: { note },
  }))
  return [...frames, ...notes]
}
