/** The rows of the timeline: the expanded part of the tree of steps. */
import { itemLabel } from './item-label'
import { around, countItems, type ItemNode, placeOf, type StepNode } from './step-tree'
import { ms, type Step, type StepStatus } from './types'
import { stepRowsText } from '../../text/runs'

/** One row. Times are milliseconds, NaN for none. */
export type Row = {
  /** The address of the step, or of the item (`loop[3]`). */
  address: string
  kind: 'step' | 'item'
  depth: number
  title: string
  /** The number of the item that the row shows, if the title names it by its value. */
  index?: number
  status: StepStatus
  start: number
  end: number
  /** The step; absent on the row of an item of several steps. */
  step?: Step
  /** The number of items of a for-each node, or of steps of an item; 0 if there is nothing to expand. */
  within: number
  /** The number of items in each status. */
  counts?: Partial<Record<StepStatus, number>>
  open: boolean
}

/** Which rows to show. */
export type RowsAsked = {
  /** The rows that the user expanded (true) or collapsed (false), by address. */
  toggled: ReadonlyMap<string, boolean>
  /** The selected step, which is always visible. */
  selected?: string | null
  /** Only rows in one of these statuses, with their ancestors. */
  only?: ReadonlySet<StepStatus>
}

/** For-each nodes with more items than this are collapsed at first. */
export const manyItems = 8

/** The rows, top to bottom. */
export function rowsOf(tree: StepNode[], asked: RowsAsked): Row[] {
  const rows: Row[] = []
  const forced = new Set(asked.selected ? around(asked.selected) : [])
  const isOpen = (address: string, byItself: boolean) => forced.has(address) || (asked.toggled.get(address) ?? byItself)

  function addStep(node: StepNode, depth: number, title: string, index?: number): void {
    if (!wanted(node, asked.only)) return
    const { step, items } = node
    const open = items.length > 0 && isOpen(step.nodeId, items.length <= manyItems)
    rows.push({
      address: step.nodeId,
      kind: 'step',
      depth,
      title,
      index,
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
    const label = itemLabel(item)
    if (item.steps.length === 1 && only) {
      const name = nameOf(only.step)
      if (label === undefined) return addStep(only, depth, `[${item.index}] ${name}`)
      return addStep(only, depth, stepRowsText.stepOfItem(label, name), item.index)
    }
    if (!item.steps.some((node) => wanted(node, asked.only))) return
    const open = isOpen(item.address, false)
    rows.push({
      address: item.address,
      kind: 'item',
      depth,
      title: label ?? stepRowsText.item(item.index),
      index: label === undefined ? undefined : item.index,
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

/** The title of a step, or its id without one. */
export function nameOf(step: Step): string {
  return step.title || placeOf(step.nodeId)?.inner || step.nodeId
}

/** The next row for the keyboard: the next step in a direction, `null` at the end. Rows of items count too. */
export function neighbour(rows: Row[], address: string | null, by: number): Row | null {
  const at = rows.findIndex((row) => row.address === address)
  if (at < 0) return rows[by > 0 ? 0 : rows.length - 1] ?? null
  return rows[at + by] ?? null
}

function wanted(node: StepNode, only?: ReadonlySet<StepStatus>): boolean {
  if (!only || only.has(node.step.status)) return true
  return node.items.some((item) => item.steps.some((inner) => wanted(inner, only)))
}

/** The visible rows of a list, and some more at both ends so that scrolling shows no gaps. */
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
