/** The rows of the timeline: what of the tree of steps is open. */
import { around, countItems, type ItemNode, placeOf, type StepNode } from './step-tree'
import { ms, type Step, type StepStatus } from './types'
import { stepRowsText } from '../../text/runs'

/** One row. Times are milliseconds, NaN when there is none. */
export type Row = {
  /** The address of the step, or of the item (`loop[3]`). */
  address: string
  kind: 'step' | 'item'
  depth: number
  title: string
  status: StepStatus
  start: number
  end: number
  /** The step; absent on the row of an item of several steps. */
  step?: Step
  /** How many items of a for-each node, or steps of an item, are within; 0 when there is nothing to open. */
  within: number
  /** What of the items is in which status. */
  counts?: Partial<Record<StepStatus, number>>
  open: boolean
}

/** What is shown. */
export type RowsAsked = {
  /** The rows that the user opened (true) or closed (false), by address. */
  toggled: ReadonlyMap<string, boolean>
  /** The selected step, which is always in sight. */
  selected?: string | null
  /** Only what is in one of these states, with what stands around it. */
  only?: ReadonlySet<StepStatus>
}

/** For-each nodes of more items than this are closed at first. */
export const manyItems = 8

/** The rows, top to bottom. */
export function rowsOf(tree: StepNode[], asked: RowsAsked): Row[] {
  const rows: Row[] = []
  const forced = new Set(asked.selected ? around(asked.selected) : [])
  const isOpen = (address: string, byItself: boolean) => forced.has(address) || (asked.toggled.get(address) ?? byItself)

  function addStep(node: StepNode, depth: number, title: string): void {
    if (!wanted(node, asked.only)) return
    const { step, items } = node
    const open = items.length > 0 && isOpen(step.nodeId, items.length <= manyItems)
    rows.push({
      address: step.nodeId,
      kind: 'step',
      depth,
      title,
      status: step.status,
      start: ms(step.startTime),
      end: ms(step.endTime),
      step,
      within: items.length,
      counts: items.length > 0 ? countItems(items) : undefined,
      open,
    })
    if (open) for (const item of items) addItem(item, depth + 1)
  }

  function addItem(item: ItemNode, depth: number): void {
    const [only] = item.steps
    if (item.steps.length === 1 && only) return addStep(only, depth, `[${item.index}] ${nameOf(only.step)}`)
    if (!item.steps.some((node) => wanted(node, asked.only))) return
    const open = isOpen(item.address, false)
    rows.push({
      address: item.address,
      kind: 'item',
      depth,
      title: stepRowsText.item(item.index),
      status: item.status,
      start: item.start,
      end: item.end,
      within: item.steps.length,
      open,
    })
    if (open) for (const node of item.steps) addStep(node, depth + 1, nameOf(node.step))
  }

  for (const node of tree) addStep(node, 0, nameOf(node.step))
  return rows
}

/** The title of a step, or its id where it has none. */
export function nameOf(step: Step): string {
  return step.title || placeOf(step.nodeId)?.inner || step.nodeId
}

/** The row that the keyboard moves to: the next step in a direction, `null` at the end. Rows of items count too. */
export function neighbour(rows: Row[], address: string | null, by: number): Row | null {
  const at = rows.findIndex((row) => row.address === address)
  if (at < 0) return rows[by > 0 ? 0 : rows.length - 1] ?? null
  return rows[at + by] ?? null
}

function wanted(node: StepNode, only?: ReadonlySet<StepStatus>): boolean {
  if (!only || only.has(node.step.status)) return true
  return node.items.some((item) => item.steps.some((inner) => wanted(inner, only)))
}

/** The rows of a list that are in sight, and some more at both ends so that scrolling shows no gaps. */
export function inSight(
  scrolled: number,
  height: number,
  rowHeight: number,
  total: number,
  spare = 10,
): { from: number; to: number } {
  const from = Math.max(0, Math.min(total, Math.floor(scrolled / rowHeight)) - spare)
  const to = Math.min(total, Math.ceil((scrolled + height) / rowHeight) + spare)
  return { from, to: Math.max(from, to) }
}
