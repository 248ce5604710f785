import { Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { ErrorNote, notifyDone } from '../../parts'
import { CommonFields, LabelField } from './common-fields'
import { changeOf } from './config-change'
import { faultWithLabel } from './fields'
import { TypeFields, unshown } from './type-fields'
import type { Config, Trigger } from './types'
import classes from './triggers.module.css'
import { useRefresh } from './use-triggers'
import { editTriggerPageText } from '../../text/triggers'
import { commonText } from '../../text/common'

type Props = {
  trigger: Trigger
  /** Called once the trigger is stored, or if nothing was changed. */
  onDone: () => void
  /** Beside the button that saves. */
  cancel?: ReactNode
  /** A config whose editing was begun before. */
  begun?: Config
  /** Called with the config when it is changed. */
  onConfig?: (config: Config) => void
}

/** The form of an existing trigger. */
export function EditForm({ trigger: now, onDone, cancel, begun, onConfig }: Props) {
  // The trigger when editing began: only changed fields are sent, so that changes by other users are kept.
  const [trigger] = useState(now)
  const [config, setConfig] = useState<Config>(begun ?? trigger.config)
  const refresh = useRefresh()
  const save = useMutation({
    mutationFn: (input: Inputs['blueprintTriggers']['update']) => api.blueprintTriggers.update.mutate(input),
    onSuccess: async () => {
      await refresh()
      notifyDone(commonText.saved)
      onDone()
    },
    onError: () => document.querySelector('[data-trigger-form]')?.scrollIntoView({ block: 'start' }),
  })
  const change = changeOf(trigger.config, config)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (Object.keys(change).length === 0) onDone()
    else save.mutate({ triggerId: trigger.id, config: change })
  }
  const set = (next: Config) => {
    setConfig({ ...config, ...next })
    onConfig?.({ ...config, ...next })
  }
  const props = { config, set, error: save.error, stored: true }
  const others = unshown(trigger.trigger_type, trigger.config)
  return (
    <form onSubmit={submit} noValidate className={classes.form} data-trigger-form>
      <ErrorNote error={save.error} title={editTriggerPageText.couldNotSaveTheTrigger} describe={faultWithLabel} />
      <section className={classes.box} aria-label={commonText.name}>
        <LabelField {...props} agents={trigger.trigger_type === 'api'} />
      </section>
      <TypeFields type={trigger.trigger_type} {...props} />
      <CommonFields {...props} />
      {others.length > 0 && (
        <Text size="sm" c="dimmed">
          {editTriggerPageText.otherSettingsThatStayUnchanged(others.join(', '))}
        </Text>
      )}
      <div className={classes.bar}>
        <Button type="submit" loading={save.isPending}>
          {cancel ? commonText.save : editTriggerPageText.saveTrigger}
        </Button>
        {cancel}
      </div>
    </form>
  )
}
