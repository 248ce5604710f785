import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client'
import { confirm, notifyDone, notifyError } from '../../parts'
import { nameOf } from './kinds'
import type { Trigger } from './types'
import { useRefresh } from './use-triggers'
import { triggerActionsText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** Deletes a trigger after a confirmation; `onGone` is called once it is deleted. */
export function useRemove(trigger: Trigger, onGone: () => void) {
  const refresh = useRefresh()
  const remove = useMutation({
    mutationFn: () => api.blueprintTriggers.delete.mutate({ triggerId: trigger.id }),
    onSuccess: () => {
      notifyDone(triggerActionsText.triggerDeleted)
      onGone()
      void refresh()
    },
    onError: notifyError,
  })
  return {
    askToRemove: async () => {
      const yes = await confirm({
        title: triggerActionsText.deleteThisTrigger,
        action: commonText.delete,
        danger: true,
        text: <>{triggerActionsText.itsAddressStopsWorkingAndIts(nameOf(trigger))}</>,
      })
      if (yes) remove.mutate()
    },
  }
}
