import type { FormIssue, Schema } from '../forms/types'
import type { BlueprintMap, MapNode } from '../graph/map'
import type { NodeType } from '../graph/node-types'

/** What the inspector reads of an entry of node.types. */
export type NodeTypeInfo = Pick<
  NodeType,
  'type' | 'title' | 'description' | 'configSchema' | 'effect' | 'expressions' | 'passesInput' | 'waits' | 'output'
>

/** A run whose values are shown and offered: what execution.getExecutionStatus and execution.subscribe give is one. */
export type LastRun = {
  id?: string
  steps: readonly LastStep[]
  /** What the run began with, where that is known. */
  inputData?: unknown
}

/** A step of a run. Of a node within a for-each there is one for each item. */
export type LastStep = {
  nodeId: string
  status: string
  input?: unknown
  output?: unknown
  error?: { message: string; code?: string }
  attempt?: number
  startTime?: string | null
  endTime?: string | null
  durationMs?: number | null
}

/** A map in whose for-each node another stands. */
export type Around = { map: BlueprintMap; nodeId: string }

export type NodeInspectorProps = {
  /** The map that the node stands in: that of the blueprint, or the body of a for-each. */
  map: BlueprintMap
  nodeId: string
  /** The catalogue, node.types. */
  types: readonly NodeTypeInfo[]
  /** The blueprint's environment_variables. */
  variables: readonly unknown[]
  /** What is wrong: with paths from the node (`["config", "url"]`) or from the blueprint (`["blueprint_map", "nodes", 2, ...]`). */
  issues?: readonly FormIssue[]
  readOnly?: boolean
  /** Told the changed node; its id never changes here. */
  onChange: (node: MapNode) => void
  /** Asked to give the node another id everywhere; without it the id cannot be changed. */
  onRename?: (id: string) => void
  onDelete?: () => void
  onDuplicate?: () => void
  /** Opens the body of a for-each. */
  onOpenBody?: () => void
  /** The last run of this blueprint. */
  lastRun?: LastRun
  /** The last run is not known yet. */
  lastRunLoading?: boolean
  /** For a body: the maps around it, the outermost first. */
  around?: readonly Around[]
  /** What comes as inputData, where a trigger says so. */
  inputSchema?: Schema
  /** A field to show and focus: its path from the node. Each new object is a new wish. */
  focus?: { path: readonly (string | number)[] }
  organizationId?: string
  blueprintId?: string
}
