import { useRef, useState } from 'react'
import type { MapNode } from '../../graph/map'
import { levelsOf, mapAt } from './nested'
import { same } from './same'
import type { PanelTab } from './side-panel'
import type { Editor } from './use-editor'
import type { useScreen } from './use-screen'
import type { Located } from './use-validation'

/** The panels beside the canvas: the catalogue and the inspector, each a column or, without space, a sheet. */
export function usePanels(editor: Editor, { folded, small }: ReturnType<typeof useScreen>) {
  const [tab, setTab] = useState<PanelTab>('node')
  const [sheet, setSheet] = useState<'catalogue' | 'panel'>()
  const [focus, setFocus] = useState<{ path: (string | number)[] }>()
  const [variable, setVariable] = useState<{ index: number }>()
  const search = useRef<HTMLInputElement>(null)

  const open = (wanted: PanelTab) => {
    setTab(wanted)
    if (small) setSheet('panel')
    else
      setTimeout(() =>
        document
          .querySelector<HTMLElement>('#editor-panel :is(input, textarea, button, select, [tabindex="0"])')
          ?.focus(),
      )
  }
  return {
    tab,
    setTab,
    sheet,
    closeSheet: () => setSheet(undefined),
    focus,
    variable,
    search,
    open,
    /** Closes the panel. */
    close() {
      setTab('node')
      editor.select([])
    },
    showCatalogue() {
      if (folded) setSheet('catalogue')
      else search.current?.focus()
    },
    /** A node was added from the catalogue. */
    added() {
      setSheet(undefined)
      setTab('node')
    },
    /** Shows the field of an issue. */
    go(issue: Located) {
      if (issue.variable !== undefined) {
        setVariable({ index: issue.variable })
        return open('variables')
      }
      editor.enter(issue.level, issue.nodeId === undefined ? [] : [issue.nodeId])
      if (issue.nodeId === undefined) return
      setFocus({ path: issue.field })
      setTab('node')
      if (small) setSheet('panel')
    },
    /** Shows a node of any level. Nodes are identified by object identity. */
    showNode(node: MapNode) {
      const { map } = editor.doc
      const level = levelsOf(map).find((each) => mapAt(map, each)!.nodes.some((one) => one === node || same(one, node)))
      editor.enter(level ?? [], [node.id])
      setTab('node')
    },
  }
}

export type Panels = ReturnType<typeof usePanels>
