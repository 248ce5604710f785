import type { GraphDiff } from './flow'

/** The props of GraphView. */
export type GraphViewProps = {
  /** The blueprint_map of the server. */
  map: unknown
  /** Statuses of steps by node id: pending, running, completed, failed, skipped or paused. */
  statuses?: ReadonlyMap<string, string>
  /** The id of the selected node. */
  selected?: string
  /** Called with the selected node, undefined for none. Without it nothing can be selected. */
  onSelect?: (id: string | undefined) => void
  /** The differences from another version; removed parts must be in `map` to be shown. Edges by edgeKey. */
  diff?: GraphDiff
  /** In pixels or as CSS; 360 by default. */
  height?: number | string
  /** A description of the graph for screen readers. */
  label?: string
}
