import { Badge, Skeleton } from '@mantine/core'
import { useParams } from 'wouter'
import { PageHeader, StatusBadge, Unopened, UrlTabs, useUrlStates } from '../../parts'
import { TriggerGrant } from '../authority/trigger-grant'
import { kinds, listensTo, nameOf } from './kinds'
import { Ledger } from './ledger'
import { PausedNote } from './paused-note'
import { TriggerActions } from './trigger-actions'
import { TriggerFacts } from './trigger-facts'
import { textOf, type Trigger } from './types'
import { UseIt } from './use-it'
import { useTrigger } from './use-triggers'
import { triggerPageText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** /triggers/:id: the settings of the trigger, how to use it, and its ledger. */
export default function TriggerPage() {
  const { id = '' } = useParams<{ id: string }>()
  const { data: trigger, error, refetch } = useTrigger(id)
  const crumbs = [{ title: commonText.triggers, href: '/triggers' }]
  if (!trigger) {
    return (
      <>
        <PageHeader title={commonText.trigger} breadcrumbs={crumbs} />
        {error ? (
          <Unopened
            error={error}
            title={triggerPageText.couldNotOpenTheTrigger}
            missing={triggerPageText.triggerNotFound}
            list={{ href: '/triggers', title: triggerPageText.allTriggers }}
            onRetry={() => void refetch()}
          />
        ) : (
          <>
            <Skeleton h={120} mb={18} />
            <Skeleton h={320} />
          </>
        )}
      </>
    )
  }
  const kind = kinds[trigger.trigger_type]
  return (
    <>
      <PageHeader
        title={nameOf(trigger)}
        text={textOf(trigger.config, 'label') && listensTo(trigger.trigger_type, trigger.config)}
        breadcrumbs={crumbs}
        badge={
          <>
            <Badge color="petrol" visibleFrom="sm" leftSection={<kind.icon size={14} aria-hidden />}>
              {kind.title}
            </Badge>
            <StatusBadge status={trigger.is_active ? 'active' : 'inactive'} />
          </>
        }
        actions={trigger.can_manage && <TriggerActions trigger={trigger} />}
      />
      <PausedNote trigger={trigger} />
      {trigger.can_manage && <TriggerGrant blueprintId={trigger.blueprint_id} triggerId={trigger.id} />}
      <TriggerFacts trigger={trigger} />
      {trigger.can_manage ? <Tabs trigger={trigger} /> : <UseIt trigger={trigger} />}
    </>
  )
}

function Tabs({ trigger }: { trigger: Trigger }) {
  const [{ tab }] = useUrlStates({ tab: '' })
  const path = `/triggers/${trigger.id}`
  return (
    <>
      <UrlTabs
        label={triggerPageText.triggerPages}
        tabs={[
          { href: path, title: triggerPageText.ledger, current: tab !== 'use' },
          { href: `${path}?tab=use`, title: kinds[trigger.trigger_type].use, current: tab === 'use' },
        ]}
      />
      {tab === 'use' ? <UseIt trigger={trigger} /> : <Ledger trigger={trigger} />}
    </>
  )
}
