import { useReactFlow } from '@xyflow/react'
import { useRef, useState } from 'react'
import { layout, snap } from '../../graph/layout'
import { type BlueprintMap, edgesOf, isSequential, type MapNode, type Position } from '../../graph/map'
import { notesOf } from '../../graph/notes'
import { type Room, showsAll, viewWith, zoomOfAll } from '../../graph/view'
import { motion } from '../../graph/zoom'
import { notifyDone } from '../../parts'
import { focusAfter } from '../../parts/focus'
import { align, distribute } from './arrange'
import { addNote, group, nudgeNotes, withoutNotes } from './notes'
import { refuse } from './refuse'
import { hasBody } from './nested'
import {
  addAtHandle,
  addBefore,
  addNode,
  connect,
  connectInOrder,
  connectProblem,
  cutOrder,
  insertBefore,
  insertInEdge,
  newNode,
  nudge,
  reconnect,
  reconnectProblem,
  remove,
  reorder,
  setNode,
  toggleDisabled,
} from './operations'
import { copyText, duplicate, paste, readClip } from './paste'
import { type Expressions, referencesTo } from './references'
import { idProblem, rename } from './rename'
import type { Editor } from './use-editor'
import { type NodeType, typeIn } from '../../graph/node-types'
import { commandsText } from '../../text/editor'

/** The open dialog and its subject. */
export type Dialog =
  { kind: 'connect'; id: string } | { kind: 'rename'; id: string; to?: string } | { kind: 'help' | 'paste' } | undefined

/** Where a new node comes: at a handle of a node, before a node, or on an edge; `at` is its place on the canvas. */
export type Spot =
  | { source: string; handle: string; at?: Position }
  | { target: string; at?: Position }
  | { edge: string; at?: Position }

/** All commands of buttons and keys. */
export type Commands = ReturnType<typeof useCommands>

/**
 * The commands of the editor. `showCatalogue` shows the catalogue and focuses it; `isUnapplied` reports whether a field
 * of a node has an unapplied text.
 */
export function useCommands(
  editor: Editor,
  types: NodeType[],
  expressions: Expressions,
  showCatalogue: () => void,
  isUnapplied: (id: string) => boolean,
) {
  const flow = useReactFlow()
  const [dialog, setDialog] = useState<Dialog>()
  const kept = useRef<string>(undefined) // the copied text, if the browser's clipboard is not available
  const { shown: map, readOnly, edit, select } = editor
  const { nodes: chosen, edges: chosenEdges, notes: chosenNotes } = editor.state
  const inLoop = editor.state.level.length > 0
  const titled = (id: string) => map.nodes.find((node) => node.id === id)?.title || id

  // Moves a node into view, unless it is visible.
  const reveal = (id: string, around = false) => {
    const box = document.querySelector('.react-flow')?.getBoundingClientRect()
    if (!box) return
    const from = flow.getViewport()
    const to = viewWith(map, id, from, box.width, box.height, roomOf(box), around)
    if (to.x !== from.x || to.y !== from.y || to.zoom !== from.zoom) void flow.setViewport(to, motion())
  }
  const added = useRef<{ id: string; around: boolean }>(undefined) // not shown yet
  const fit = () => {
    const box = document.querySelector('.react-flow')?.getBoundingClientRect()
    if (!box) return
    const { top, bottom, left, right } = roomOf(box)
    const padding = { top: `${top}px`, bottom: `${bottom}px`, left: `${left}px`, right: `${right}px` } as const
    void flow.fitView({ padding, maxZoom: 1, ...motion() })
  }
  const focusCard = (id: string) => {
    let tries = 0
    const find = () => {
      const element = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)
      if (element) element.focus({ preventScroll: true })
      else if (tries++ < 30) requestAnimationFrame(find)
    }
    find()
  }
  /** Focuses a node and moves it into view. */
  const focus = (id: string) => {
    reveal(id)
    focusCard(id)
  }
  const put = (node: MapNode, at?: Position) => {
    if (readOnly) return
    const edge = !at && chosen.size === 0 && chosenEdges.size === 1 ? [...chosenEdges][0] : undefined
    const after = at ? undefined : chosen.size === 1 ? [...chosen][0] : undefined
    const next = edge ? onEdge(node, { edge }) : addNode(map, node, after, at, inLoop)
    edit(commandsText.add(node.title), () => next, {
      select: [node.id],
      fresh: node.id,
      say: after === undefined ? commandsText.added(node.title) : commandsText.addedAfter(node.title, titled(after)),
    })
    added.current = { id: node.id, around: !at } // shown once it is drawn together with the panel, which takes space
  }
  const putAt = (node: MapNode, spot: Spot) => {
    if (readOnly) return
    const made =
      'source' in spot
        ? addAtHandle(map, node, spot.source, spot.handle, inLoop, spot.at)
        : {
            map:
              'edge' in spot
                ? onEdge(node, spot)
                : spot.at
                  ? addBefore(map, node, spot.target, inLoop, spot.at)
                  : insertBefore(map, node, spot.target, inLoop),
            notes: [],
          }
    if ('problem' in made) return refuse(made.problem)
    edit(commandsText.add(node.title), () => made.map, {
      select: [node.id],
      fresh: node.id,
      say:
        'source' in spot
          ? commandsText.addedAfter(node.title, titled(spot.source))
          : 'target' in spot
            ? commandsText.addedBefore(node.title, titled(spot.target))
            : commandsText.added(node.title),
    })
    tellOf(made.notes)
    added.current = { id: node.id, around: spot.at === undefined }
    focusCard(node.id) // the search that had the focus is closed
  }
  // The wires of a sequence are the order of its nodes.
  const onEdge = (node: MapNode, { edge, at }: { edge: string; at?: Position }): BlueprintMap =>
    isSequential(map) ? addNode(map, node, sourceOf(edge), at, inLoop) : insertInEdge(map, edge, node, at)
  const tellOf = (notes: readonly string[]) => {
    if (notes.length > 0) notifyDone(commandsText.theOrderIsNowDrawn(notes.join(' ')))
  }
  const tryConnect = (source: string, handle: string, target: string) => {
    const why = connectProblem(map, source, handle, target)
    if (why) return refuse(why)
    const made = isSequential(map)
      ? connectInOrder(map, source, handle, target, inLoop)
      : { map: connect(map, source, handle, target), notes: [] }
    if ('problem' in made) return refuse(made.problem)
    edit('connecting', () => made.map, { say: commandsText.connectedTo(titled(source), titled(target)) })
    tellOf(made.notes)
  }
  const pasteText = (text: string, at?: Position) => {
    if (readOnly) return
    const read = readClip(text)
    if ('problem' in read) return refuse(read.problem)
    const last = at ?? middle()
    const result = paste(map, read.clip, last, expressions, inLoop)
    if (result.problem) return refuse(result.problem)
    const say = commandsText.pasted(
      counted(result.ids.length, result.notes.length),
      result.renamed.size > 0
        ? `; ${[...result.renamed]
            .slice(0, 3)
            .map(([from, to]) => commandsText.isNow(from, to))
            .join(', ')}`
        : '',
    )
    edit('pasting', () => result.map, { select: result.ids, selectNotes: result.notes, say })
    notifyDone(result.ordered ? commandsText.theOrderOfTheOtherNodes(say) : say)
  }
  // The centre of the view, for pasted nodes.
  const middle = (): Position => {
    const box = document.querySelector('.react-flow')?.getBoundingClientRect()
    const at = box
      ? flow.screenToFlowPosition({ x: box.left + box.width / 3, y: box.top + box.height / 3 })
      : { x: 0, y: 0 }
    return { x: snap(at.x), y: snap(at.y) }
  }
  const textOf = () =>
    chosen.size + chosenNotes.size > 0 ? (kept.current = copyText(map, chosen, chosenNotes)) : undefined
  const chosenCount = () => counted(chosen.size, chosenNotes.size)
  // Unapplied texts would belong to another node after a new id.
  const keepsId = (id: string): boolean => {
    const keeps = isUnapplied(id)
    if (keeps) refuse(commandsText.aFieldOfIsNotApplied(titled(id)))
    return keeps
  }
  const freshly = (id: string, to: string) => (editor.state.fresh.has(id) ? to : undefined)
  const removeChosen = () => {
    if (readOnly || chosen.size + chosenEdges.size + chosenNotes.size === 0) return
    const cut =
      isSequential(map) && chosen.size === 0 && chosenEdges.size > 0
        ? cutOrder(map, chosenEdges, inLoop)
        : { map, notes: [] as string[] }
    if ('problem' in cut) return refuse(cut.problem)
    const next = withoutNotes(remove(cut.map, chosen, chosenEdges), chosenNotes)
    const what =
      chosen.size === 1 && chosenNotes.size === 0
        ? titled([...chosen][0]!)
        : chosen.size + chosenNotes.size > 0
          ? chosenCount()
          : chosenEdges.size === 1
            ? commandsText.anEdge
            : commandsText.edges(chosenEdges.size)
    edit(commandsText.delete(what), () => next, { select: [], say: commandsText.deleted(what) })
    if (cut.map !== map) notifyDone(commandsText.theOrderIsNowDrawn(cut.notes.join(' ')))
    if (edgesOf(map).length > 0 && isSequential(next) && next.nodes.length > 1)
      notifyDone(commandsText.withoutEdgesTheNodesRunOne)
  }
  return {
    dialog,
    close: () => setDialog(undefined),
    help: () => setDialog({ kind: 'help' }),
    focus,
    /** Moves a node into view, with its surroundings if it was just added; with `freshOnly` only in that case. */
    reveal: (id: string, freshOnly = false) => {
      const fresh = added.current?.id === id ? added.current : undefined
      added.current = undefined
      if (fresh || !freshOnly) reveal(id, fresh?.around)
    },
    add: showCatalogue,
    addType: (type: NodeType, at?: Position) => put(newNode(map, type), at),
    /** Adds a node of a type at a handle, before a node, or on an edge. */
    addAt: (type: NodeType, spot: Spot) => putAt(newNode(map, type), spot),
    connect: (id: string) => setDialog({ kind: 'connect', id }),
    tryConnect,
    /** Moves the ends of an edge, or shows why not. */
    tryReconnect: (key: string, source: string, handle: string, target: string) => {
      const why = reconnectProblem(map, key, source, handle, target)
      if (why) return refuse(why)
      edit(commandsText.moveAnEdge, (now) => reconnect(now, key, source, handle, target), {
        say: commandsText.connectedTo(titled(source), titled(target)),
      })
    },
    rename: (id: string) => {
      if (!readOnly && !keepsId(id)) setDialog({ kind: 'rename', id })
    },
    /** Changes an id that was typed elsewhere: it asks only if there are references. */
    renameTo: (id: string, to: string) => {
      if (readOnly || idProblem(map, id, to) || keepsId(id)) return
      if (referencesTo(map, id, expressions).length > 0) setDialog({ kind: 'rename', id, to })
      else
        edit(commandsText.rename(id), (now) => rename(now, id, to, false, expressions), {
          select: [to],
          fresh: freshly(id, to),
          say: commandsText.isNow2(id, to),
        })
    },
    renamed: (from: string, to: string, everywhere: boolean) =>
      edit(commandsText.rename2(from), (now) => rename(now, from, to, everywhere, expressions), {
        select: [to],
        fresh: freshly(from, to),
        say: commandsText.isNow(from, to),
      }),
    set: (id: string, node: MapNode) =>
      edit(commandsText.change(titled(id)), (now) => setNode(now, id, node), { tag: `node ${id}` }),
    open: (id: string) => {
      const node = map.nodes.find((each) => each.id === id)
      if (!node || !hasBody(node)) return false
      editor.enter([...editor.state.level, id])
      return true
    },
    refuse,
    remove: removeChosen,
    toggle: () => edit(commandsText.disableOrEnable, (now) => toggleDisabled(now, chosen)),
    reorder: (id: string, by: -1 | 1) =>
      edit(commandsText.changeTheOrder, (now) => reorder(now, id, by), {
        say: by < 0 ? commandsText.movedEarlier : commandsText.movedLater,
      }),
    nudge: (dx: number, dy: number) =>
      edit(commandsText.move(chosenCount()), (now) => nudgeNotes(nudge(now, chosen, dx, dy), chosenNotes, dx, dy), {
        tag: 'nudge',
      }),
    duplicate: () => {
      if (readOnly || chosen.size + chosenNotes.size === 0) return
      const result = duplicate(map, chosen, expressions, chosenNotes)
      edit(commandsText.duplicate(chosenCount()), () => result.map, {
        select: result.ids,
        selectNotes: result.notes,
        say: commandsText.duplicatedAs(result.ids.slice(0, 3).join(', ') || chosenCount()),
      })
    },
    example: (id: string) => {
      const node = map.nodes.find((each) => each.id === id)
      const type = node && typeIn(types, node.type)
      if (node && type)
        edit(commandsText.insertTheExample, (now) => setNode(now, id, { ...node, config: type.example }), {
          say: commandsText.exampleInserted,
        })
    },
    align: (to: 'left' | 'top') => edit(commandsText.align, (now) => align(now, chosen, to)),
    distribute: (axis: 'x' | 'y') => edit(commandsText.distribute, (now) => distribute(now, chosen, axis)),
    group: () => {
      if (inLoop || chosen.size === 0) return
      const what = count(chosen.size)
      edit(commandsText.group(what), (now) => group(now, chosen, commandsText.newGroup).map, {
        say: commandsText.grouped(what),
      })
    },
    addNote: () => {
      if (readOnly || inLoop) return
      const { map: next, id } = addNote(map, middle())
      focusAfter(
        () => edit(commandsText.addANote, () => next, { say: commandsText.noteAdded }),
        () => document.querySelector<HTMLElement>(`[data-id="note ${CSS.escape(id)}"] textarea`),
      )
    },
    tidy: () => {
      edit(commandsText.arrangeNodes, layout, { say: commandsText.nodesArranged })
      setTimeout(fit, 30)
    },
    fit,
    /** Fits the graph into view if it stays readable, and reports whether it does. */
    fitReadably: (): boolean => {
      const box = document.querySelector('.react-flow')?.getBoundingClientRect()
      if (!box) return false
      const room = roomOf(box)
      if (showsAll(map, flow.getViewport(), box.width, box.height, room)) return true
      if (zoomOfAll(map, box.width, box.height, room) < 0.45) return false
      fit()
      return true
    },
    zoom: (by: 1 | -1) => void (by > 0 ? flow.zoomIn(motion()) : flow.zoomOut(motion())),
    all: () =>
      select(
        map.nodes.map((node) => node.id),
        [],
        notesOf(map).map((note) => note.id),
      ),
    text: textOf,
    cutText: () => {
      const text = textOf()
      if (text !== undefined) removeChosen()
      return text
    },
    pasteText,
    copy: async () => {
      const text = textOf()
      if (text === undefined) return
      await navigator.clipboard?.writeText(text).catch(() => undefined)
      editor.say(commandsText.copied(chosenCount()))
    },
    cut: async () => {
      const text = textOf()
      if (text === undefined) return
      await navigator.clipboard?.writeText(text).catch(() => undefined)
      removeChosen()
    },
    /**
     * Pastes by a button: from the clipboard if the browser allows it, else the last copied text, else it asks for
     * text.
     */
    paste: async () => {
      const text = (await navigator.clipboard?.readText?.().catch(() => undefined)) ?? kept.current
      if (text !== undefined && 'clip' in readClip(text)) pasteText(text)
      else setDialog({ kind: 'paste' })
    },
  }
}

// The edges of the canvas that overlays cover.
function roomOf(box: DOMRect): Room {
  const bar = document.querySelector('#editor-selection')?.getBoundingClientRect()
  const notes = document.querySelector('#editor-notes')?.getBoundingClientRect()
  const palette = document.querySelector('#editor-palette')?.getBoundingClientRect()
  const panel = document.querySelector('#editor-aside')?.getBoundingClientRect()
  return {
    top: (bar ? bar.bottom - box.top : 16) + 12,
    bottom: (notes && notes.height > 0 ? box.bottom - notes.top : 16) + 12,
    left: (palette ? palette.right - box.left : 0) + 28,
    right: (panel ? box.right - panel.left : 0) + 28,
  }
}

function sourceOf(key: string): string {
  return (JSON.parse(key) as string[])[0]!
}

function count(nodes: number): string {
  return nodes === 1 ? commandsText.n1Node : commandsText.nodes(nodes)
}

function counted(nodes: number, notes: number): string {
  return [...(nodes > 0 || notes === 0 ? [count(nodes)] : []), ...(notes > 0 ? [commandsText.notes(notes)] : [])].join(
    commandsText.and,
  )
}
