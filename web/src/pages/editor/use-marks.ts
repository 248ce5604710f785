import { useMemo } from 'react'
import type { Position } from '../../graph/map'
import { GRIP, type MarkNode, type NoteActions } from './note-cards'
import { frameOf, groupsOf, notesOf } from '../../graph/notes'
import { setGroup, setNote } from './notes'
import type { Editor } from './use-editor'
import { marksText } from '../../text/editor'

/** The notes and groups of the visible map as cards behind the nodes. `moving` holds the places of what is dragged. */
export function useMarks(editor: Editor, moving: ReadonlyMap<string, Position> | undefined): MarkNode[] {
  const { shown: map, readOnly, edit, select } = editor
  const { notes: chosen } = editor.state
  const actions = useMemo<NoteActions>(
    () => ({
      setNote: (id, change, tag) =>
        edit(change ? marksText.changeANote : marksText.deleteANote, (now) => setNote(now, id, change), { tag }),
      setGroup: (id, change, tag) =>
        edit(change ? marksText.changeAGroup : marksText.ungroup, (now) => setGroup(now, id, change), { tag }),
      selectGroup: (id) => select(groupsOf(map).find((group) => group.id === id)?.nodes ?? []),
    }),
    [edit, select, map],
  )
  return useMemo(() => {
    const still = { selectable: false, focusable: false, deletable: false, connectable: false } as const
    const sized = (width: number, height: number) => ({ width, height, measured: { width, height } })
    const frames = groupsOf(map).map((group): MarkNode => {
      const { left, top, right, bottom } = frameOf(map, group, moving)
      return {
        ...still,
        ...sized(right - left, bottom - top),
        id: `group ${group.id}`,
        type: 'frame',
        position: { x: left, y: top },
        zIndex: -2,
        draggable: !readOnly,
        dragHandle: `.${GRIP}`,
        style: { pointerEvents: 'none' },
        data: { group, readOnly, actions },
      }
    })
    const notes = notesOf(map).map((note): MarkNode => ({
      ...still,
      selectable: true,
      selected: chosen.has(note.id),
      ...sized(note.size.width, note.size.height),
      id: `note ${note.id}`,
      type: 'note',
      position: moving?.get(`note ${note.id}`) ?? note.position,
      zIndex: -1,
      draggable: !readOnly,
      dragHandle: `.${GRIP}`,
      data: { note, readOnly, actions },
    }))
    return [...frames, ...notes]
  }, [map, moving, readOnly, actions, chosen])
}
