import { count } from './count'

/** Texts of graph/card.tsx. */
export const cardText = {
  note: 'Note',
  pinned: 'The output is pinned in this browser',
  pinnedShort: 'Pinned',
  addANodeBefore: (name: string) => `Add a node before ${name}`,
  addANodeBeforeThis: 'Add a node before this one',
  disabled: 'Disabled',
  notSetUpYet: 'Not set up yet',
  addANode: 'Add a node',
  addANodeAfter: (name: string, output: string) => `Add a node after ${name}${output ? `, ${output}` : ''}`,
} as const

/** Texts of graph/flow.ts. */
export const flowText = {
  pinned: 'output pinned',
  runsInOrder: 'runs in order',
  edge: (from: string, to: string) => `Edge from ${from} to ${to}`,
  order: (first: string, next: string) => `Runs in order: ${first}, then ${next}`,
  paused: 'waiting for input',
  pending: 'not started',
  disabled: 'disabled',
  notSetUpYet: 'not set up yet',
  n1Error: '1 error',
  errors: (errors: number) => `${count(errors, 'error')}`,
  n1Warning: '1 warning',
  warnings: (warnings: number) => `${count(warnings, 'warning')}`,
} as const

/** Texts of graph/graph-canvas.tsx. */
export const graphCanvasText = {
  graphOfNodes: (length: number) => `Graph of ${count(length, 'node')}`,
} as const

/** Texts of graph/graph-view.tsx. */
export const graphViewText = {
  loadingTheGraph: 'Loading the graph',
} as const

/** Texts of graph/handles.ts. */
export const handlesText = {
  neverTakenTheNodeDoesNot: 'Never taken: the node does not branch on errors.',
  neverTakenTheNodeHasNo: 'Never taken: the node has no such output.',
  always: 'always',
  error: 'error',
} as const

/** Texts of graph/looks.ts. */
export const looksText = {
  until: (text: string) => `until ${text}`,
  aBlueprint: 'a blueprint',
  cases: (n: number) => count(n, 'case'),
  fails: 'fails',
  nodes: (n: number) => count(n, 'node'),
  ms: (value: number) => `${value} ms`,
} as const

/** Texts of graph/zoom.tsx. */
export const zoomText = {
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fitToView: 'Fit to view',
} as const
