import { Switch } from '@mantine/core'
import type { Trigger } from './types'
import { useSwitch } from './use-triggers'
import { nameOf } from './kinds'
import { activeSwitchText } from '../../text/triggers'

/** Activates and pauses a trigger; shows the requested state until the server has responded. */
export function ActiveSwitch({ trigger, label }: { trigger: Trigger; label?: string }) {
  const turn = useSwitch()
  const on = turn.isPending ? turn.variables.isActive : trigger.is_active
  return (
    <Switch
      checked={on}
      disabled={!trigger.can_manage}
      label={label}
      size="md"
      aria-label={label ? undefined : activeSwitchText.active(nameOf(trigger), trigger.blueprint_title)}
      onChange={(event) => turn.mutate({ triggerId: trigger.id, isActive: event.currentTarget.checked })}
    />
  )
}
