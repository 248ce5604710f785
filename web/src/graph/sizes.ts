import { handlesOf, type Handle } from './handles'
import type { MapNode } from './map'

/** The dimensions of a node on the canvas, in pixels; the style sheet of the card has the same numbers. */
export const WIDTH = 224
/** The part of a card above its labelled handles. */
export const HEAD = 60
/** One labelled handle. */
export const ROW = 22
const FOOT = 6

/** The height of a card with these handles. */
export function cardHeight(handles: Handle[]): number {
  return isPlain(handles) ? HEAD : HEAD + handles.length * ROW + FOOT
}

/** The height of a node's card. */
export function heightOf(node: MapNode, used?: Iterable<string>): number {
  return cardHeight(handlesOf(node, used))
}

/** The distance of a handle from the top of its card. */
export function handleTop(handles: Handle[], index: number): number {
  return isPlain(handles) ? HEAD / 2 : HEAD + index * ROW + ROW / 2
}

/** Reports whether a card has a single handle, which needs no label. */
export function isPlain(handles: Handle[]): boolean {
  return handles.length === 1 && handles[0]!.label === ''
}

/** The smallest rectangle around something on the canvas. */
export type Bounds = { left: number; top: number; right: number; bottom: number }
