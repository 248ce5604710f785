import { Button, Skeleton, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { api, type Inputs } from '../../api/client'
import { DocLink, ErrorNote, notifyDone, PageHeader } from '../../parts'
import { CommonFields } from './common-fields'
import { changeOf } from './config-change'
import { faultWithLabel } from './fields'
import { kinds, listensTo, unshown } from './kinds'
import { TypeFields } from './type-fields'
import type { Config, Trigger } from './types'
import classes from './triggers.module.css'
import { useRefresh, useTrigger } from './use-triggers'
import { editTriggerPageText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** /triggers/:id/edit. */
export default function EditTriggerPage() {
  const { id = '' } = useParams<{ id: string }>()
  const { data: trigger, error, refetch } = useTrigger(id)
  const crumbs = [
    { title: commonText.triggers, href: '/triggers' },
    ...(trigger ? [{ title: listensTo(trigger.trigger_type, trigger.config), href: `/triggers/${id}` }] : []),
  ]
  return (
    <>
      <PageHeader
        title={editTriggerPageText.editTrigger}
        breadcrumbs={crumbs}
        text={
          trigger && (
            <>
              {editTriggerPageText.starts(kinds[trigger.trigger_type].title, trigger.blueprint_title)}{' '}
              <DocLink to="triggers" />
            </>
          )
        }
      />
      {trigger ? (
        trigger.can_manage ? (
          <EditForm trigger={trigger} />
        ) : (
          <Text>{editTriggerPageText.onlyManagersOfTheBlueprintCan}</Text>
        )
      ) : error ? (
        <ErrorNote error={error} title={editTriggerPageText.couldNotOpenTheTrigger} onRetry={() => void refetch()} />
      ) : (
        <Skeleton h={420} maw={760} />
      )}
    </>
  )
}

function EditForm({ trigger: now }: { trigger: Trigger }) {
  // The trigger when editing began: only changed fields are sent, so that changes by other users are kept.
  const [trigger] = useState(now)
  const [config, setConfig] = useState<Config>(trigger.config)
  const [, go] = useLocation()
  const refresh = useRefresh()
  const save = useMutation({
    mutationFn: (input: Inputs['blueprintTriggers']['update']) => api.blueprintTriggers.update.mutate(input),
    onSuccess: async () => {
      await refresh()
      notifyDone(commonText.saved)
      go(`/triggers/${trigger.id}`)
    },
    onError: () => scrollTo({ top: 0 }),
  })
  const change = changeOf(trigger.config, config)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (Object.keys(change).length === 0) go(`/triggers/${trigger.id}`)
    else save.mutate({ triggerId: trigger.id, config: change })
  }
  const props = { config, set: (next: Config) => setConfig({ ...config, ...next }), error: save.error, stored: true }
  const others = unshown(trigger.trigger_type, trigger.config)
  return (
    <form onSubmit={submit} noValidate className={classes.form}>
      <ErrorNote error={save.error} title={editTriggerPageText.couldNotSaveTheTrigger} describe={faultWithLabel} />
      <TypeFields type={trigger.trigger_type} {...props} />
      <CommonFields {...props} />
      {others.length > 0 && (
        <Text size="sm" c="dimmed">
          {editTriggerPageText.otherSettingsThatStayUnchanged(others.join(', '))}
        </Text>
      )}
      <div className={classes.bar}>
        <Button type="submit" loading={save.isPending}>
          {commonText.save}
        </Button>
        <Button component={Link} href={`/triggers/${trigger.id}`} variant="default">
          {commonText.cancel}
        </Button>
      </div>
    </form>
  )
}
