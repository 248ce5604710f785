import { api } from '../../api/client'
import { confirm, notifyError } from '../../parts'
import type { LastRun } from '../../inspector/types'
import type { NodeType } from '../../graph/node-types'
import { actingNodes } from './acting'
import { inputOf, partial } from './partial'
import type { Pins } from './pins'
import { refuse } from './refuse'
import type { Editor } from './use-editor'
import { partText } from '../../text/editor'

/**
 * Returns a function that runs one node as it is edited, or with `onward` it and the nodes after it, with the data of a
 * run. It asks first if a node acts on other systems, or gets masked values. `onStarted` gets the ids of the nodes that run as they are.
 */
export function usePart(
  editor: Editor,
  blueprintId: string,
  types: readonly NodeType[],
  run: LastRun | undefined,
  pins: Pins,
  onStarted: (executionId: string, ran: ReadonlySet<string>) => void,
) {
  return async (id: string, onward: boolean) => {
    editor.checked()
    const made = partial(editor.shown, id, onward, run, pins)
    if ('missing' in made) return refuse(partText.missing(made.missing.join(', ')))
    const acting = actingNodes(made.map, types)
    const notes = [
      ...(acting.length > 0 ? [partText.actsForReal(acting.map((node) => node.title || node.id).join(', '))] : []),
      ...(made.masked.length > 0 ? [partText.masked(named(made.masked))] : []),
    ]
    if (
      notes.length > 0 &&
      !(await confirm({
        title: onward ? partText.runFromHere : partText.runThisNode,
        text: notes.join(' '),
        action: partText.run,
      }))
    )
      return
    try {
      const { executionId } = await api.execution.executeBlueprintWithLogging.mutate({
        ...made.map,
        edges: made.map.edges ?? undefined,
        options: { blueprintId, inputData: inputOf(editor.shown, run) },
      })
      onStarted(executionId, made.ran)
    } catch (error) {
      notifyError(error)
    }
  }
}

const most = 5

function named(paths: readonly string[]): string {
  const more = paths.length - most
  return [...paths.slice(0, most), ...(more > 0 ? [partText.more(more)] : [])].join(', ')
}
