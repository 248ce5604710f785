import { count } from './count'

/** Texts of diff/change-words.ts. */
export const changeWordsText = {
  connectedTheNodesWithEdges: 'Connected the nodes with edges',
  removedAllEdgesNodesRunIn: 'Removed all edges: nodes run in order',
  changedTheNodeOrder: 'Changed the node order',
  changed: (list: string) => `Changed ${list}`,
  movedNodesOnTheCanvas: 'Moved nodes on the canvas',
  changedTitleStatusTagsOr: 'Changed title, status, tags or sharing only',
  nodes: (n: number) => count(n, 'node'),
  variables: (n: number) => count(n, 'variable'),
  variable: (title: string) => `variable ${title}`,
  edges: (parts: string) => `Edges: ${parts}`,
  edgesAdded: (n: number) => `${n} added`,
  edgesRemoved: (n: number) => `${n} removed`,
  edgesChanged: (n: number) => `${n} changed`,
  andMore: (value: string, rest: number) => `${value} and ${rest} more`,
} as const

/** Texts of diff/field-diff.tsx. */
export const fieldDiffText = {
  value: 'value',
  unchangedLines: (lines: number) => count(lines, 'unchanged line'),
  showMoreLines: (lines: number) => `Show ${count(lines, 'more line')}`,
} as const

/** Texts of diff/version-diff.tsx. */
export const versionDiffText = {
  changesFromTo: (value: string, value2: string) => `Changes from ${value} to ${value2}`,
  onlyNodePositionsChangedThe: 'Only node positions changed. The steps are the same.',
  nodesEdgesAndVariablesAreThe: 'Nodes, edges and variables are the same.',
  otherSettings: 'Other settings',
  otherFields: 'Other fields',
  added: '+ Added',
  removed: '− Removed',
  changed: '~ Changed',
} as const
