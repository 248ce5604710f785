import type { Change, GraphDiff } from './flow'
import type { BlueprintMap } from './map'

/** Maps as graphs. The code of the canvas and of the layout is loaded lazily; these exports are small. */
export type { BlueprintMap, Change, GraphDiff }
export type { MapEdge, MapNode } from './map'
export { edgeKey, edgesOf, handleOf, isSequential, normalType, readMap } from './map'
export { flowOrder, upstream } from './order'
export { summaryOf } from './looks'
export { TypeIcon } from './type-icon'
export { GraphView } from './graph-view'
export type { GraphViewProps } from './graph-view-props'

/** The map with all nodes at the positions of a new layout. */
export async function layout(map: BlueprintMap): Promise<BlueprintMap> {
  return (await import('./layout')).layout(map)
}
