import type { Level } from './nested'

type Step = { nodeId: string; status: string }

// When several items share a node, the first of these statuses is shown.
const ranks = ['running', 'paused', 'failed', 'completed', 'skipped', 'pending']

/** The statuses of the nodes of a level, from the steps of a run. In a for-each, the highest-ranked one of all items counts. */
export function statusesAt(steps: readonly Step[], level: Level): Map<string, string> {
  const found = new Map<string, string>()
  const inside =
    level.length === 0 ? undefined : new RegExp(`^${level.map((id) => `${escape(id)}\\[\\d+\\]/`).join('')}(.+)$`, 's')
  for (const step of steps) {
    const id = inside ? inside.exec(step.nodeId)?.[1] : step.nodeId
    if (id === undefined) continue
    const known = found.get(id)
    if (known === undefined || ranks.indexOf(step.status) < ranks.indexOf(known)) found.set(id, step.status)
  }
  return found
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
