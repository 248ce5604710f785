import { useLayoutEffect, useRef, useState } from 'react'
import { api, type Outputs } from '../../api/client'
import { describeError } from '../../api/errors'
import { readMap } from '../../graph/map'
import { notifyDone, notifyError } from '../../parts'
import { noteChange } from '../../api/use-blueprint'
import { placedAll } from './nested'
import { same } from './same'
import type { Doc } from './state'
import type { Editor } from './use-editor'
import { nextMinor } from './version'
import { saveText } from '../../text/editor'

/** A blueprint as returned by the server. */
export type Blueprint = Outputs['blueprint']['get']

/** The editable part of a blueprint. Nodes without a position get one. */
export function docOf(blueprint: Pick<Blueprint, 'blueprint_map' | 'environment_variables'>): Doc {
  return { map: placedAll(readMap(blueprint.blueprint_map)), variables: blueprint.environment_variables }
}

/**
 * Saves the edited blueprint. If another user changed the map or the variables in the meantime, nothing is saved and
 * `conflict` holds their version.
 */
export function useSave(editor: Editor, blueprint: Blueprint) {
  const [saving, setSaving] = useState(false)
  const [conflict, setConflict] = useState<Blueprint>()
  const live = useRef(editor) // the latest: a field may be applied just before saving
  useLayoutEffect(() => {
    live.current = editor
  })
  const busy = useRef<Promise<boolean>>(undefined)
  const base = useRef<Pick<Blueprint, 'blueprint_map' | 'environment_variables' | 'version'>>(blueprint)

  const send = async (doc: Doc, over?: string): Promise<boolean> => {
    const now = await api.blueprint.get.query({ id: blueprint.id })
    if (
      over !== now.version &&
      now.version !== base.current.version &&
      !(
        same(now.blueprint_map, base.current.blueprint_map) &&
        same(now.environment_variables, base.current.environment_variables)
      )
    ) {
      setConflict(now)
      return false
    }
    // The version guards against a save between the check and now: ours is then no longer the higher one, and the
    // server refuses it.
    const version = nextMinor(now.version)
    try {
      const after = await api.blueprint.update.mutate({
        id: blueprint.id,
        blueprint_map: doc.map,
        environment_variables: doc.variables,
        version,
      })
      base.current = after
      editor.saved(doc, after.version)
      setConflict(undefined)
      notifyDone(saveText.savedVersion(after.version))
      noteChange(blueprint.id, after)
      return true
    } catch (error) {
      if (!describeError(error).issues.some((issue) => issue.path[0] === 'version')) throw error
      setConflict(await api.blueprint.get.query({ id: blueprint.id }))
      return false
    }
  }
  const save = (over?: string): Promise<boolean> => {
    if (editor.readOnly) return Promise.resolve(false)
    if (!live.current.dirty && over === undefined) return Promise.resolve(true)
    if (busy.current) return busy.current
    setSaving(true)
    busy.current = send(live.current.doc, over)
      .catch((error: unknown) => {
        notifyError(error)
        return false
      })
      .finally(() => {
        busy.current = undefined
        setSaving(false)
      })
    return busy.current
  }
  return {
    save: () => save(),
    saving,
    conflict,
    /** Saves our changes although the server's are newer; those stay among the versions. */
    overwrite: () => save(conflict?.version),
    /** Discards our changes; undo cannot restore them, a copy in the clipboard can. */
    reload() {
      if (!conflict) return
      base.current = conflict
      editor.reload(docOf(conflict), conflict.version)
      noteChange(blueprint.id, conflict)
      setConflict(undefined)
    },
    dismiss: () => setConflict(undefined),
  }
}
