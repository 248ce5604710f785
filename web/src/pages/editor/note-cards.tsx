import { IconX } from '@tabler/icons-react'
import { type Node, type NodeProps, useReactFlow } from '@xyflow/react'
import { memo, type PointerEvent, useState } from 'react'
import { snap } from '../../graph/layout'
import classes from '../../graph/note-cards.module.css'
import { type Group, LEAST, type Note } from '../../graph/notes'
import { noteCardsText } from '../../text/editor'

/** What the cards of notes and groups do. */
export type NoteActions = {
  setNote: (id: string, change: Partial<Note> | undefined, tag?: string) => void
  setGroup: (id: string, change: Partial<Group> | undefined, tag?: string) => void
  selectGroup: (id: string) => void
}
type NoteNode = Node<{ note: Note; readOnly: boolean; actions: NoteActions }, 'note'>
type FrameNode = Node<{ group: Group; readOnly: boolean; actions: NoteActions }, 'frame'>
/** The cards that have no meaning for a run. */
export type MarkNode = NoteNode | FrameNode

/** The class of what drags a card. */
export const GRIP = 'mark-grip'

/** A note on the canvas. */
export const NoteCard = memo(function NoteCard({ data: { note, readOnly, actions }, selected }: NodeProps<NoteNode>) {
  const flow = useReactFlow()
  const [size, setSize] = useState<Note['size']>() // while it is being dragged
  const resize = (event: PointerEvent<HTMLDivElement>) => {
    event.stopPropagation()
    const handle = event.currentTarget
    const { clientX, clientY } = event
    const zoom = flow.getZoom()
    let wanted = note.size
    handle.setPointerCapture(event.pointerId)
    const move = (at: globalThis.PointerEvent) => {
      wanted = {
        width: Math.max(LEAST.width, snap(note.size.width + (at.clientX - clientX) / zoom)),
        height: Math.max(LEAST.height, snap(note.size.height + (at.clientY - clientY) / zoom)),
      }
      setSize(wanted)
    }
    handle.addEventListener('pointermove', move)
    handle.addEventListener(
      'lostpointercapture',
      () => {
        handle.removeEventListener('pointermove', move)
        setSize(undefined)
        if (wanted !== note.size) actions.setNote(note.id, { size: wanted })
      },
      { once: true },
    )
  }
  return (
    <div className={classes.note} style={size} data-selected={selected || undefined}>
      <div className={`${classes.grip} ${GRIP}`}>
        {!readOnly && (
          <button
            type="button"
            className={`${classes.button} nodrag`}
            aria-label={noteCardsText.deleteNote}
            onClick={() => actions.setNote(note.id, undefined)}
          >
            <IconX size={14} aria-hidden />
          </button>
        )}
      </div>
      <textarea
        className={`${classes.text} nodrag nowheel nopan`}
        aria-label={noteCardsText.note}
        placeholder={noteCardsText.writeANote}
        value={note.text}
        readOnly={readOnly}
        maxLength={5000}
        onChange={(event) => actions.setNote(note.id, { text: event.currentTarget.value }, `note ${note.id}`)}
      />
      {!readOnly && <div className={`${classes.size} nodrag nopan`} onPointerDown={resize} aria-hidden />}
    </div>
  )
})

/** The frame of a group. */
export const FrameCard = memo(function FrameCard({ data: { group, readOnly, actions } }: NodeProps<FrameNode>) {
  return (
    <div className={classes.frame}>
      <div className={`${classes.title} ${GRIP}`} onClick={() => actions.selectGroup(group.id)}>
        <input
          className="nodrag nopan"
          aria-label={noteCardsText.titleOfTheGroup}
          placeholder={noteCardsText.group}
          value={group.title}
          readOnly={readOnly}
          maxLength={200}
          onClick={(event) => event.stopPropagation()}
          onChange={(event) => actions.setGroup(group.id, { title: event.currentTarget.value }, `group ${group.id}`)}
        />
        {!readOnly && (
          <button
            type="button"
            className={`${classes.button} nodrag`}
            aria-label={noteCardsText.ungroup(group.title)}
            title={noteCardsText.ungroup('')}
            onClick={(event) => {
              event.stopPropagation()
              actions.setGroup(group.id, undefined)
            }}
          >
            <IconX size={14} aria-hidden />
          </button>
        )}
      </div>
    </div>
  )
})
