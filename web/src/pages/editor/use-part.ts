import { api } from '../../api/client'
import { confirm, notifyError } from '../../parts'
import type { LastRun } from '../../inspector/types'
import { type NodeType, typeIn } from '../../graph/node-types'
import { partial } from './partial'
import type { Pins } from './pins'
import { refuse } from './refuse'
import type { Editor } from './use-editor'
import { partText } from '../../text/editor'

/**
 * Returns a function that runs one node as it is edited, or with `onward` it and the nodes after it, with the data of a
 * run. It asks first if a node acts on the outside.
 */
export function usePart(
  editor: Editor,
  blueprintId: string,
  types: readonly NodeType[],
  run: LastRun | undefined,
  pins: Pins,
  onStarted: (executionId: string) => void,
) {
  return async (id: string, onward: boolean) => {
    const made = partial(editor.shown, id, onward, run, pins)
    if ('missing' in made) return refuse(partText.missing(made.missing.join(', ')))
    const acting = made.map.nodes.filter((node) => {
      const effect = node.effect ?? typeIn(types, node.type)?.effect
      return !node.disabled && effect !== undefined && effect !== 'pure' && node.type !== 'code'
    })
    if (
      acting.length > 0 &&
      !(await confirm({
        title: onward ? partText.runFromHere : partText.runThisNode,
        text: partText.actsForReal(acting.map((node) => node.title || node.id).join(', ')),
        action: partText.run,
      }))
    )
      return
    try {
      const { executionId } = await api.execution.executeBlueprintWithLogging.mutate({
        ...made.map,
        edges: made.map.edges ?? undefined,
        options: { blueprintId, inputData: inputOf(run, made.map.nodes[0]?.id) },
      })
      onStarted(executionId)
    } catch (error) {
      notifyError(error)
    }
  }
}

// The input of the run: that of its first step.
function inputOf(run: LastRun | undefined, first: string | undefined): unknown {
  if (run && Object.hasOwn(run, 'inputData')) return run.inputData
  return run?.steps.find((step) => step.nodeId === first)?.input ?? {}
}
