import { useRef, useState } from 'react'
import type { MapNode } from '../../graph/map'
import { focusAfter } from '../../parts/focus'
import type { TriggerType } from '../triggers/types'
import { levelsOf, mapAt } from './nested'
import { same } from './same'
import type { PanelTab } from './side-panel'
import type { Editor } from './use-editor'
import type { useScreen } from './use-screen'
import type { Located } from './use-validation'

// Where the browser remembers whether the catalogue is shown.
const paletteKey = 'blueprintd.editor.palette'

/** A trigger whose panel is open, the choice of a new one's type, or its form. */
export type TriggerPlace = { kind: 'open'; id: string } | { kind: 'choose' } | { kind: 'new'; type: TriggerType }

/** The panels above the canvas: the catalogue and the inspector, which without space are sheets. */
export function usePanels(editor: Editor, { narrow, small }: ReturnType<typeof useScreen>) {
  const [tab, setTab] = useState<PanelTab>('node')
  const [sheet, setSheet] = useState<'catalogue' | 'panel'>()
  const [focus, setFocus] = useState<{ path: (string | number)[] }>()
  const [variable, setVariable] = useState<{ index: number }>()
  const [trigger, setTrigger] = useState<TriggerPlace>()
  // A selected node replaces the trigger.
  if (trigger && editor.state.nodes.size > 0) setTrigger(undefined)
  const search = useRef<HTMLInputElement>(null)
  const [palette, setPalette] = useState(() => localStorage.getItem(paletteKey) === 'open')
  const keepPalette = (shown: boolean) => {
    setPalette(shown)
    localStorage.setItem(paletteKey, shown ? 'open' : 'closed')
  }

  const open = (wanted: PanelTab) => {
    const show = () => {
      setTab(wanted)
      setTrigger(undefined)
    }
    if (small) {
      show()
      setSheet('panel')
    } else focusAfter(show, firstOfPanel)
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
    trigger,
    /** Shows a trigger instead of the selected node; undefined closes its panel. */
    showTrigger(place: TriggerPlace | undefined) {
      editor.select([])
      setTab('node')
      setTrigger(place)
      if (small) setSheet(place && 'panel')
    },
    /** Closes the panel. */
    close() {
      setTab('node')
      setTrigger(undefined)
      editor.select([])
    },
    palette,
    closePalette: () => keepPalette(false),
    togglePalette() {
      if (palette) keepPalette(false)
      else this.showCatalogue()
    },
    showCatalogue() {
      if (narrow) return setSheet('catalogue')
      focusAfter(
        () => keepPalette(true),
        () => search.current,
      )
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

/** The first control of the panel. */
const firstOfPanel = () =>
  document.querySelector<HTMLElement>('#editor-panel :is(input, textarea, button, select, [tabindex="0"])')

/** Focuses the first control of the panel. */
export function focusPanel(): void {
  firstOfPanel()?.focus()
}
