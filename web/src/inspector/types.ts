import type { FormIssue, Schema } from '../forms/types'
import type { BlueprintMap, MapNode } from '../graph/map'
import type { NodeType } from '../graph/node-types'

/** The part of an entry of node.types that the inspector uses. */
export type NodeTypeInfo = Pick<
  NodeType,
  'type' | 'title' | 'description' | 'configSchema' | 'effect' | 'expressions' | 'passesInput' | 'waits' | 'output'
>

/** A run whose values are shown and suggested, as returned by execution.getExecutionStatus and execution.subscribe. */
export type LastRun = {
  id?: string
  steps: readonly LastStep[]
  /** The input of the run, if known. */
  inputData?: unknown
}

/** A step of a run. A node within a for-each has one for each item. */
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

/** The stored runs whose data can be shown, newest first. */
export type RunChoice = {
  list: readonly { id: string; status: string; at: string }[]
  /** The id of the chosen one; the newest by default. */
  chosen?: string
  onChoose: (id: string) => void
}

/** Whether the output of a node is pinned: it stands in for that of the run. */
export type Pin = { on: boolean; toggle: (output: unknown) => void }

/** A map with the for-each node that contains another map. */
export type Around = { map: BlueprintMap; nodeId: string }

export type NodeInspectorProps = {
  /** The map of the node: that of the blueprint, or the body of a for-each. */
  map: BlueprintMap
  nodeId: string
  /** The catalogue, node.types. */
  types: readonly NodeTypeInfo[]
  /** The blueprint's environment_variables. */
  variables: readonly unknown[]
  /**
   * The problems: with paths from the node (`["config", "url"]`) or from the blueprint (`["blueprint_map", "nodes", 2,
   * ...]`).
   */
  issues?: readonly FormIssue[]
  readOnly?: boolean
  /** Called with the changed node; its id never changes here. */
  onChange: (node: MapNode) => void
  /** Called to change the id of the node everywhere; without it the id cannot be changed. */
  onRename?: (id: string) => void
  onDelete?: () => void
  onDuplicate?: () => void
  /** Opens the body of a for-each. */
  onOpenBody?: () => void
  /** The last run of this blueprint. */
  lastRun?: LastRun
  /** The runs to choose from. */
  runs?: RunChoice
  pin?: Pin
  /** Runs only this node, or it and those after it, with the data of the run. */
  onRun?: (onward: boolean) => void
  /** The last run is still loading. */
  lastRunLoading?: boolean
  /** For a body: the surrounding maps, outermost first. */
  around?: readonly Around[]
  /** The schema of inputData, if a trigger defines it. */
  inputSchema?: Schema
  /** A field to show and focus: its path from the node. Each new object is a new request. */
  focus?: { path: readonly (string | number)[] }
  organizationId?: string
  blueprintId?: string
}
