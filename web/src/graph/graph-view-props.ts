import type { GraphDiff } from './flow'

/** What GraphView takes. */
export type GraphViewProps = {
  /** The blueprint_map, as the server gives it. */
  map: unknown
  /** Statuses of steps by node id: pending, running, completed, failed, skipped or paused. */
  statuses?: Readonly<Record<string, string>>
  /** The id of the chosen node. */
  selected?: string
  /** Told the node that was chosen, undefined for none. Without it nothing can be chosen. */
  onSelect?: (id: string | undefined) => void
  /** What differs from another version; what was removed must be in `map` to be seen. Edges by edgeKey. */
  diff?: GraphDiff
  /** In pixels or as CSS has it; 360 unless told. */
  height?: number | string
  /** What the graph shows, for who does not see it. */
  label?: string
}
