import type { Position } from './map'

/** The position and size of a card. */
export type Box = { x: number; y: number; width: number; height: number }

/** The horizontal segment of an edge that avoids cards: at `y`, between two x. */
export type Detour = { y: number; from: number; to: number }

const gap = 18 // between a card and the edge around it
const step = 10 // between two edges around the same cards
const turn = 28 // space before and after the cards, for the bend

/**
 * The detour of an edge around the cards between its ends, above or below them, whichever is nearer; undefined if none
 * is in the way, or if the edge runs backwards. `boxes` exclude the edge's own cards; `taken` segments are not drawn
 * over.
 */
export function detour(
  source: Position,
  target: Position,
  boxes: readonly Box[],
  taken: readonly Detour[] = [],
): Detour | undefined {
  if (target.x - source.x < 3 * turn) return undefined
  const [low, high] = [Math.min(source.y, target.y), Math.max(source.y, target.y)]
  const near = boxes.filter((box) => box.x < target.x && box.x + box.width > source.x)
  const hit = near.filter((box) => box.y <= high && box.y + box.height >= low && crosses(source, target, box))
  if (hit.length === 0) return undefined
  const ways = [lane(source, target, hit, near, taken, -1), lane(source, target, hit, near, taken, 1)]
  const length = (way: Detour) => Math.abs(way.y - source.y) + Math.abs(way.y - target.y)
  return length(ways[1]!) < length(ways[0]!) ? ways[1] : ways[0]
}

// The nearest free segment on one side; it avoids every card that it meets.
function lane(
  source: Position,
  target: Position,
  hit: Box[],
  near: Box[],
  taken: readonly Detour[],
  side: -1 | 1,
): Detour {
  const round = new Set(hit)
  for (;;) {
    const all = [...round]
    const from = Math.max(source.x + turn / 2, Math.min(...all.map((box) => box.x)) - turn)
    const to = Math.min(target.x - turn / 2, Math.max(...all.map((box) => box.x + box.width)) + turn)
    let y =
      side < 0 ? Math.min(...all.map((box) => box.y)) - gap : Math.max(...all.map((box) => box.y + box.height)) + gap
    while (taken.some((other) => Math.abs(other.y - y) < step && other.from < to && other.to > from)) y += side * step
    const met = near.filter(
      (box) =>
        !round.has(box) &&
        box.x < to &&
        box.x + box.width > from &&
        box.y - gap / 2 < y &&
        box.y + box.height + gap / 2 > y,
    )
    if (met.length === 0) return { y, from, to }
    for (const box of met) round.add(box)
  }
}

// Reports whether the curve between two points runs behind a card.
function crosses(source: Position, target: Position, box: Box): boolean {
  for (let index = 1; index < 32; index++) {
    const t = index / 32
    const x = source.x + (target.x - source.x) * (1.5 * t * (1 - t) + t ** 3)
    const y = source.y + (target.y - source.y) * (3 * t ** 2 - 2 * t ** 3)
    if (x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height) return true
  }
  return false
}

/** The SVG path of an edge with a detour. */
export function detourPath(source: Position, target: Position, { y, from, to }: Detour): string {
  const bend = (a: number, b: number) => (b - a) * 0.6
  return `M${source.x},${source.y} C${source.x + bend(source.x, from)},${source.y} ${from - bend(source.x, from)},${y} ${from},${y} L${to},${y} C${to + bend(to, target.x)},${y} ${target.x - bend(to, target.x)},${target.y} ${target.x},${target.y}`
}
