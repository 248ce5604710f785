/** Short labels for the items of a for-each node, from their values. */
import { isRaw } from '../../api/json'
import { type ItemNode, type StepNode, treeOf } from './step-tree'
import { ms, type Step } from './types'

const longest = 48
// Members that name their object, best first.
const naming = ['title', 'name', 'label', 'subject', 'email', 'displayName', 'fullName', 'key', 'slug', 'url', 'id']

/** A short label for a value: a scalar itself, of an object its title, name or id; undefined if it has none. */
export function labelOf(value: unknown): string | undefined {
  if (isScalar(value)) return shortened(String(isRaw(value) ? value.rawJSON : value))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const members = Object.entries(value).filter(([, member]) => isScalar(member) && member !== '')
  const by = (matches: (key: string) => boolean) => members.find(([key]) => matches(key))?.[1]
  const [first] = members
  const found =
    naming.map((name) => by((key) => key === name)).find((member) => member !== undefined) ??
    by((key) => /(name|title)$/i.test(key)) ??
    by((key) => /id$/i.test(key))
  if (found !== undefined) return labelOf(found)
  return first && shortened(`${first[0]}: ${labelOf(first[1])}`)
}

/** The label of an item: its first step to begin has the item's value as its input. */
export function itemLabel(item: ItemNode): string | undefined {
  const begun = item.steps.map(({ step }) => step).filter((step) => step.startTime !== null)
  const [first] = begun.sort((a, b) => ms(a.startTime) - ms(b.startTime))
  return first && labelOf(first.input)
}

/** The labels of all items of a run, by their addresses. */
export function itemNames(steps: Step[]): Map<string, string> {
  const names = new Map<string, string>()
  const add = (node: StepNode): void => {
    for (const item of node.items) {
      const label = itemLabel(item)
      if (label !== undefined) names.set(item.address, label)
      item.steps.forEach(add)
    }
  }
  treeOf(steps).forEach(add)
  return names
}

function isScalar(value: unknown): boolean {
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number' || isRaw(value)
}

function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line
}
