import { Alert, Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { api, type Inputs } from '../../api/client'
import { issueFor } from '../../api/errors'
import { ErrorNote, notifyDone } from '../../parts'
import { BlueprintSelect } from './blueprint-select'
import { CommonFields, LabelField } from './common-fields'
import { compact } from './config-change'
import { faultWithLabel } from './fields'
import { kinds } from './kinds'
import { TypeFields } from './type-fields'
import type { Config, TriggerType } from './types'
import classes from './triggers.module.css'
import { useRefresh } from './use-triggers'
import { newTriggerPageText } from '../../text/triggers'
import { commonText } from '../../text/common'

type Props = {
  type: TriggerType
  /** The blueprint to start; empty if none is chosen yet. */
  blueprint: string
  /** Called with another blueprint; without it, the blueprint is fixed. */
  onBlueprint?: (id: string) => void
  onCreated: (id: string) => void
  /** Beside the button that creates the trigger. */
  cancel: ReactNode
  /** A config whose editing was begun before. */
  begun?: Config
  /** Called with the config when it is changed. */
  onConfig?: (config: Config) => void
}

/** The form of a new trigger. */
export function NewForm({ type, blueprint, onBlueprint, onCreated, cancel, begun, onConfig }: Props) {
  const [config, setConfig] = useState<Config>(() => begun ?? kinds[type].start())
  const [missing, setMissing] = useState(false)
  const refresh = useRefresh()
  const create = useMutation({
    mutationFn: (input: Inputs['blueprintTriggers']['create']) => api.blueprintTriggers.create.mutate(input),
    onSuccess: ({ id }) => {
      void refresh()
      notifyDone(newTriggerPageText.triggerCreatedAndActive)
      onCreated(id)
    },
    onError: () => document.querySelector('[data-trigger-form]')?.scrollIntoView({ block: 'start' }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!blueprint) {
      setMissing(true)
      document.querySelector<HTMLInputElement>('form input')?.focus()
      return
    }
    create.mutate({ blueprintId: blueprint, triggerType: type, config: compact(config) })
  }
  const set = (change: Config) => {
    setConfig({ ...config, ...change })
    onConfig?.({ ...config, ...change })
  }
  const fields = { config, set, error: create.error, stored: false }
  const named = <LabelField {...fields} agents={type === 'api'} />
  return (
    <form onSubmit={submit} noValidate className={classes.form} data-trigger-form>
      <ErrorNote error={create.error} title={newTriggerPageText.couldNotCreateTheTrigger} describe={faultWithLabel} />
      {onBlueprint ? (
        <section className={classes.box} aria-label={commonText.blueprint}>
          <BlueprintSelect
            label={commonText.blueprint}
            description={newTriggerPageText.theBlueprintToStartYouMust}
            value={blueprint}
            onChange={(id) => {
              onBlueprint(id)
              setMissing(false)
            }}
            managed
            placeholder={newTriggerPageText.chooseABlueprint}
            error={missing && !blueprint ? newTriggerPageText.chooseABlueprint2 : issueFor(create.error, 'blueprintId')}
          />
          <Text size="sm" c="dimmed">
            {kinds[type].input}
          </Text>
          {named}
        </section>
      ) : (
        <>
          <Text size="sm" c="dimmed">
            {kinds[type].input}
          </Text>
          {named}
        </>
      )}
      <TypeFields type={type} {...fields} />
      {type === 'manual' && (
        <Alert color="petrol">
          <Text size="sm">{newTriggerPageText.thisTriggerHasNoSettingsFire}</Text>
        </Alert>
      )}
      <CommonFields {...fields} />
      <div className={classes.bar}>
        <Button type="submit" loading={create.isPending}>
          {newTriggerPageText.createTrigger}
        </Button>
        {cancel}
      </div>
    </form>
  )
}
