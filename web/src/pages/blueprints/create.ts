import { api, type Inputs } from '../../api/client'
import { describeError } from '../../api/errors'
import { queryClient } from '../../api/query-client'
import { configToCreate, type FileTrigger } from './file'
import { createText } from '../../text/blueprints'

type Create = Inputs['blueprint']['create']
type TriggerType = Inputs['blueprintTriggers']['create']['triggerType']

/** The result of creating a blueprint. */
export type Created = {
  id: string
  title: string
  triggers: number
  /** Why some triggers were not created. */ left: string[]
}

/**
 * Creates a blueprint and its triggers, all inactive. A trigger that the server refuses does not undo the rest: `left`
 * has the reason. The promise rejects only if the blueprint itself was refused.
 */
export async function createWithTriggers(
  input: Create,
  triggers: (FileTrigger & { secret?: string })[],
): Promise<Created> {
  const { id, title } = await api.blueprint.create.mutate(input)
  const left: string[] = []
  let made = 0
  for (const [index, trigger] of triggers.entries()) {
    const name = createText.trigger(index + 1, trigger.triggerType)
    const config = configToCreate(trigger, trigger.secret)
    if (!config) {
      left.push(createText.needsASigningSecretTheFile(name))
      continue
    }
    try {
      const { id: triggerId } = await api.blueprintTriggers.create.mutate({
        blueprintId: id,
        triggerType: trigger.triggerType as TriggerType,
        config,
      })
      made++
      await api.blueprintTriggers.update.mutate({ triggerId, isActive: false })
    } catch (error) {
      left.push(`${name}: ${describeError(error).message}`)
    }
  }
  void queryClient.invalidateQueries({ queryKey: ['blueprints'] })
  return { id, title, triggers: made, left }
}
