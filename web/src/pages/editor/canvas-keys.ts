import type { KeyboardEvent } from 'react'
import { flowOrder } from '../../graph/order'
import { isElsewhere } from './use-clipboard'
import type { Commands } from './use-commands'
import type { Editor } from './use-editor'

const arrows = new Map(
  Object.entries<[number, number]>({
    ArrowLeft: [-8, 0],
    ArrowRight: [8, 0],
    ArrowUp: [0, -8],
    ArrowDown: [0, 8],
  }),
)

/** Keyboard commands while the canvas has the focus. */
export function canvasKey(event: KeyboardEvent, editor: Editor, commands: Commands, onSettings: () => void): void {
  if (isElsewhere(event.target) || event.defaultPrevented) return
  const { nodes, edges, notes } = editor.state
  const at = (event.target as HTMLElement).closest('.react-flow__node')?.getAttribute('data-id') ?? undefined
  // The cards of triggers are not nodes of the map.
  const id = editor.shown.nodes.some((node) => node.id === at) ? at : undefined
  const by = event.shiftKey ? 4 : 1
  const arrow = arrows.get(event.key)
  if (event.ctrlKey || event.metaKey) {
    if (event.altKey) return
    const command = ({ a: commands.all, d: commands.duplicate } as Record<string, (() => void) | undefined>)[
      event.key.toLowerCase()
    ]
    if (!command || event.shiftKey) return
    event.preventDefault()
    return command()
  }
  if (event.altKey) return
  const take = (act: () => void) => {
    event.preventDefault()
    act()
  }
  if (event.key === 'Tab' && id !== undefined) {
    const order = flowOrder(editor.shown)
    const next = order[order.indexOf(id) + (event.shiftKey ? -1 : 1)]
    if (next === undefined) return // leave the canvas
    return take(() => {
      if (nodes.size < 2) editor.select([next])
      commands.focus(next)
    })
  }
  if (arrow && nodes.size + notes.size > 0) return take(() => commands.nudge(arrow[0] * by, arrow[1] * by))
  // Enter and Space on a button of the canvas press the button.
  if ((event.key === 'Enter' || event.key === ' ') && id === undefined) return
  switch (event.key) {
    case 'Enter':
      return take(() => {
        if (!nodes.has(id!)) editor.select([id!])
        onSettings()
      })
    case ' ':
      return take(() => {
        const next = new Set(nodes)
        if (!next.delete(id!)) next.add(id!)
        editor.select(next, edges, notes)
      })
    case 'Escape':
      if (nodes.size + edges.size + notes.size > 0) take(() => editor.select([]))
      else if (editor.state.level.length > 0)
        take(() => editor.enter(editor.state.level.slice(0, -1), [editor.state.level.at(-1)!]))
      return
    case 'Delete':
    case 'Backspace':
      return take(() => {
        const order = flowOrder(editor.shown)
        const next = id === undefined ? undefined : (order[order.indexOf(id) + 1] ?? order[order.indexOf(id) - 1])
        commands.remove()
        if (next !== undefined && !nodes.has(next)) setTimeout(() => commands.focus(next))
      })
    case 'ContextMenu':
    case 'm':
      return take(() => document.querySelector<HTMLElement>('#editor-selection button')?.focus())
    case 'a':
      return take(commands.add)
    case 'b':
      return id === undefined
        ? undefined
        : take(() =>
            document
              .querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"] [data-before]`)
              ?.click(),
          )
    case 'c':
      return id === undefined ? undefined : take(() => commands.connect(id))
    case 'o':
      return take(commands.toggle)
    case 'l':
      return take(commands.tidy)
    case 'g':
      return nodes.size === 0 ? undefined : take(commands.group)
    case 'n':
      return take(commands.addNote)
    case 'f':
      return take(commands.fit)
    case '+':
    case '=':
      return take(() => commands.zoom(1))
    case '-':
      return take(() => commands.zoom(-1))
    case 'F2':
      return id === undefined ? undefined : take(() => commands.rename(id))
  }
}
