import { useCallback, useMemo, useReducer, useState } from 'react'
import type { BlueprintMap } from '../../graph/map'
import { names } from './history'
import type { Level } from './nested'
import { type Doc, isDirty, open, reduce, shownMap } from './state'
import { useEditorText } from '../../text/editor'

/** Options of a change of the map. */
export type ChangeOptions = {
  tag?: string
  /** The nodes to select; with them, the notes. */
  select?: Iterable<string>
  selectNotes?: Iterable<string>
  /** The id of the added node; see EditorState. */
  fresh?: string
  say?: string
}

/** The editor's state and its operations. */
export type Editor = ReturnType<typeof useEditor>

/** The state of one editor; see state.ts. */
export function useEditor(doc: Doc, version: string, readOnly: boolean) {
  const [state, dispatch] = useReducer(reduce, undefined, () => open(doc, version))
  const [said, setSaid] = useState('')
  // Announces the same message again: a trailing blank makes it different.
  const say = useCallback((words: string) => setSaid((before) => (before === words ? `${words}\u00a0` : words)), [])
  const act = useMemo(
    () => ({
      /** Changes the visible map; `name` describes the change for undo. */
      edit(name: string, change: (map: BlueprintMap) => BlueprintMap, options: ChangeOptions = {}) {
        if (readOnly) return
        dispatch({ do: 'map', name, change, ...options, at: Date.now() })
        if (options.say) say(options.say)
      },
      variables: (variables: unknown[]) => {
        if (!readOnly) dispatch({ do: 'variables', variables, at: Date.now() })
      },
      select: (nodes: Iterable<string>, edges: Iterable<string> = [], notes: Iterable<string> = []) =>
        dispatch({ do: 'select', nodes, edges, notes }),
      enter: (level: Level, select?: Iterable<string>) => dispatch({ do: 'enter', level, select }),
      checked: () => dispatch({ do: 'checked' }),
      saved: (doc: Doc, version: string) => dispatch({ do: 'saved', doc, version }),
      replace: (name: string, doc: Doc) => dispatch({ do: 'replace', name, doc, at: Date.now() }),
      reload: (doc: Doc, version: string) => dispatch({ do: 'reload', doc, version }),
      undo: () => dispatch({ do: 'undo' }),
      redo: () => dispatch({ do: 'redo' }),
    }),
    [readOnly, say],
  )
  const steps = names(state.history)
  const undo = () => {
    if (readOnly || !steps.undo) return
    act.undo()
    say(useEditorText.undone(steps.undo))
  }
  const redo = () => {
    if (readOnly || !steps.redo) return
    act.redo()
    say(useEditorText.redone(steps.redo))
  }
  const present = state.history.present
  const shown = useMemo(() => shownMap(present.map, state.level), [present.map, state.level])
  return { ...act, undo, redo, steps, state, doc: present, shown, dirty: isDirty(state), readOnly, said, say }
}
