import { useMemo } from 'react'
import type { Position } from '../../graph/map'
import { GRIP, type MarkNode, type NoteActions } from './note-cards'
import { toMarks } from '../../graph/mark-cards'
import { groupsOf } from '../../graph/notes'
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
    const edited = { draggable: !readOnly, dragHandle: `.${GRIP}`, deletable: false, connectable: false } as const
    return toMarks(map, moving).map((mark): MarkNode =>
      mark.type === 'note'
        ? {
            ...mark,
            ...edited,
            selectable: true,
            selected: chosen.has(mark.data.note.id),
            data: { ...mark.data, readOnly, actions },
          }
        : { ...mark, ...edited, data: { ...mark.data, readOnly, actions } },
    )
  }, [map, moving, readOnly, actions, chosen])
}
