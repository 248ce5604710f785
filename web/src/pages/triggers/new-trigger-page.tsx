import { Alert, Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, Fragment, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api, type Inputs } from '../../api/client'
import { issueFor } from '../../api/errors'
import { ErrorNote, notifyDone, PageHeader, useUrlStates } from '../../parts'
import { BlueprintSelect } from './blueprint-select'
import { CommonFields } from './common-fields'
import { compact } from './config-change'
import { isType, kinds } from './kinds'
import { TypeCards } from './type-cards'
import { TypeFields } from './type-fields'
import type { Config, TriggerType } from './types'
import classes from './triggers.module.css'
import { useRefresh } from './use-triggers'

/** /triggers/new: first the type, then its form. `?blueprint=` and `?type=` choose beforehand. */
export default function NewTriggerPage() {
  const [{ type, blueprint }, set] = useUrlStates({ type: '', blueprint: '' })
  const crumbs = [
    { title: 'Triggers', href: '/triggers' },
    ...(blueprint ? [{ title: 'Triggers of the blueprint', href: `/blueprints/${blueprint}/triggers` }] : []),
  ]
  if (!isType(type)) {
    return (
      <>
        <PageHeader title="New trigger" breadcrumbs={crumbs} text="What should start the blueprint?" />
        <TypeCards href={(one) => `/triggers/new?type=${one}${blueprint ? `&blueprint=${blueprint}` : ''}`} />
      </>
    )
  }
  return (
    <Fragment key={type}>
      <PageHeader
        title={`New trigger: ${kinds[type].title}`}
        breadcrumbs={crumbs}
        text={kinds[type].text}
        actions={
          <Button
            component={Link}
            variant="default"
            href={`/triggers/new${blueprint ? `?blueprint=${blueprint}` : ''}`}
          >
            Another type
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
      notifyDone('The trigger is made and active')
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
      <ErrorNote error={create.error} title="The trigger was not made" />
      <section className={classes.box} aria-label="The blueprint">
        <BlueprintSelect
          label="Blueprint"
          description="What it starts. You need to manage it."
          value={blueprint}
          onChange={(id) => {
            onBlueprint(id)
            setMissing(false)
          }}
          managed
          placeholder="Choose a blueprint"
          error={missing && !blueprint ? 'Choose the blueprint that it starts.' : issueFor(create.error, 'blueprintId')}
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
          <Text size="sm">
            No settings. Fire it on its page, or call blueprintTriggers.fire, with input data if you like.
          </Text>
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
          Make the trigger
        </Button>
        <Button component={Link} href={blueprint ? `/blueprints/${blueprint}/triggers` : '/triggers'} variant="default">
          Cancel
        </Button>
      </div>
    </form>
  )
}
