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
  // A dragged node is selected, but its panel stays closed if none was open.
  const [grabbed, setGrabbed] = useState<{ id: string; closed: boolean }>()
  const chosenId = editor.state.nodes.size === 1 ? [...editor.state.nodes][0] : undefined
  if (grabbed && grabbed.id !== chosenId) setGrabbed(undefined)
  const closed = grabbed?.closed === true && grabbed.id === chosenId
  const shown = trigger !== undefined || tab !== 'node' || (chosenId !== undefined && !closed)
  const pick = () => setGrabbed(undefined)
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
      pick()
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
    /** The panel is shown, where there is space for it. */
    shown,
    /** The selected node was dragged. */
    dragged: grabbed !== undefined,
    /** The panel of the selected node is closed because the node was dragged. */
    closed,
    /** The user begins to drag a node. */
    grab: (id: string) => setGrabbed({ id, closed: !shown }),
    /** The user selects a node without dragging it. */
    pick,
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
      pick()
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
      pick()
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
