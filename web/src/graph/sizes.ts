import { handlesOf, type Handle } from './handles'
import type { MapNode } from './map'

/** The measures of a node on the canvas, in pixels; the style sheet of the card has the same numbers. */
export const WIDTH = 224
/** The part of a card above its named ways out. */
export const HEAD = 60
/** One named way out. */
export const ROW = 22
const FOOT = 6

/** How high a card with these ways out is. */
export function cardHeight(handles: Handle[]): number {
  return isPlain(handles) ? HEAD : HEAD + handles.length * ROW + FOOT
}

/** How high a node's card is. */
export function heightOf(node: MapNode, used?: Iterable<string>): number {
  return cardHeight(handlesOf(node, used))
}

/** How far below the top of its card a way out leaves. */
export function handleTop(handles: Handle[], index: number): number {
  return isPlain(handles) ? HEAD / 2 : HEAD + index * ROW + ROW / 2
}

/** Whether a card has the one way out that needs no name. */
export function isPlain(handles: Handle[]): boolean {
  return handles.length === 1 && handles[0]!.label === ''
}
