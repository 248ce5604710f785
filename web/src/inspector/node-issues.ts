import type { FormIssue } from '../forms/types'
import type { BlueprintMap } from '../graph/map'

/** The issues of one node with paths from it, out of those of its map or already its own. */
export function issuesOfNode(issues: readonly FormIssue[], map: BlueprintMap, nodeId: string): FormIssue[] {
  const index = map.nodes.findIndex((node) => node.id === nodeId)
  return issues.flatMap((issue) => {
    const { path } = issue
    if (path[0] === 'blueprint_map')
      return path[1] === 'nodes' && path[2] === index ? [{ ...issue, path: path.slice(3) }] : []
    if (path[0] === 'nodes' && typeof path[1] === 'number')
      return path[1] === index ? [{ ...issue, path: path.slice(2) }] : []
    if (path[0] === 'environment_variables' || path[0] === 'edges') return []
    return [issue]
  })
}

/** The issues of a list of variables with paths from the list. */
export function issuesOfVariables(issues: readonly FormIssue[]): FormIssue[] {
  return issues.flatMap((issue) => {
    if (issue.path[0] === 'environment_variables') return [{ ...issue, path: issue.path.slice(1) }]
    return typeof issue.path[0] === 'number' ? [issue] : []
  })
}

/** The position of a code node's error in its source: the message of the run ends with "(line 3, column 7)". */
export function codeErrorOf(message: string | undefined): { line: number; message: string } | undefined {
  const place = message && / \(line (\d+), column \d+\)$/.exec(message)
  return place ? { line: Number(place[1]), message: message.slice(0, place.index) } : undefined
}
