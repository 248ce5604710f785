import { Alert, Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, Fragment, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api, type Inputs } from '../../api/client'
import { issueFor } from '../../api/errors'
import { DocLink, ErrorNote, notifyDone, PageHeader, useUrlStates } from '../../parts'
import { BlueprintSelect } from './blueprint-select'
import { CommonFields } from './common-fields'
import { compact } from './config-change'
import { faultWithLabel } from './fields'
import { isType, kinds } from './kinds'
import { TypeCards } from './type-cards'
import { TypeFields } from './type-fields'
import type { Config, TriggerType } from './types'
import classes from './triggers.module.css'
import { useRefresh } from './use-triggers'
import { newTriggerPageText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** /triggers/new: first the type, then its form. `?blueprint=` and `?type=` preselect. */
export default function NewTriggerPage() {
  const [{ type, blueprint }, set] = useUrlStates({ type: '', blueprint: '' })
  const crumbs = [
    { title: commonText.triggers, href: '/triggers' },
    ...(blueprint
      ? [{ title: newTriggerPageText.triggersOfTheBlueprint, href: `/blueprints/${blueprint}/triggers` }]
      : []),
  ]
  if (!isType(type)) {
    return (
      <>
        <PageHeader
          title={newTriggerPageText.newTrigger}
          breadcrumbs={crumbs}
          text={newTriggerPageText.chooseATriggerType}
        />
        <TypeCards href={(one) => `/triggers/new?type=${one}${blueprint ? `&blueprint=${blueprint}` : ''}`} />
      </>
    )
  }
  return (
    <Fragment key={type}>
      <PageHeader
        title={newTriggerPageText.newTrigger2(kinds[type].title)}
        breadcrumbs={crumbs}
        text={
          <>
            {kinds[type].text} <DocLink to="triggers" />
          </>
        }
        actions={
          <Button
            component={Link}
            variant="default"
            href={`/triggers/new${blueprint ? `?blueprint=${blueprint}` : ''}`}
          >
            {newTriggerPageText.changeType}
          </Button>
        }
      />
      <NewForm type={type} blueprint={blueprint} onBlueprint={(id) => set({ blueprint: id })} />
    </Fragment>
  )
}

function NewForm({
  type,
  blueprint,
  onBlueprint,
}: {
  type: TriggerType
  blueprint: string
  onBlueprint: (id: string) => void
}) {
  const [config, setConfig] = useState<Config>(() => kinds[type].start())
  const [missing, setMissing] = useState(false)
  const [, go] = useLocation()
  const refresh = useRefresh()
  const create = useMutation({
    mutationFn: (input: Inputs['blueprintTriggers']['create']) => api.blueprintTriggers.create.mutate(input),
    onSuccess: ({ id }) => {
      void refresh()
      notifyDone(newTriggerPageText.triggerCreatedAndActive)
      go(`/triggers/${id}?tab=use`)
    },
    onError: () => scrollTo({ top: 0 }),
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
  return (
    <form onSubmit={submit} noValidate className={classes.form}>
      <ErrorNote error={create.error} title={newTriggerPageText.couldNotCreateTheTrigger} describe={faultWithLabel} />
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
          {kinds[type].gives}
        </Text>
      </section>
      <TypeFields
        type={type}
        config={config}
        set={(change) => setConfig({ ...config, ...change })}
        error={create.error}
        stored={false}
      />
      {type === 'manual' && (
        <Alert color="petrol">
          <Text size="sm">{newTriggerPageText.thisTriggerHasNoSettingsFire}</Text>
        </Alert>
      )}
      <CommonFields
        config={config}
        set={(change) => setConfig({ ...config, ...change })}
        error={create.error}
        stored={false}
      />
      <div className={classes.bar}>
        <Button type="submit" loading={create.isPending}>
          {newTriggerPageText.createTrigger}
        </Button>
        <Button component={Link} href={blueprint ? `/blueprints/${blueprint}/triggers` : '/triggers'} variant="default">
          {commonText.cancel}
        </Button>
      </div>
    </form>
  )
}
