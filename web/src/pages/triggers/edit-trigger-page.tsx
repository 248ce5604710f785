import { Button, Skeleton, Text } from '@mantine/core'
import { Link, useLocation, useParams } from 'wouter'
import { DocLink, ErrorNote, PageHeader } from '../../parts'
import { EditForm } from './edit-form'
import { kinds, nameOf } from './kinds'
import { useTrigger } from './use-triggers'
import { editTriggerPageText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** /triggers/:id/edit. */
export default function EditTriggerPage() {
  const { id = '' } = useParams<{ id: string }>()
  const { data: trigger, error, refetch } = useTrigger(id)
  const [, go] = useLocation()
  const crumbs = [
    { title: commonText.triggers, href: '/triggers' },
    ...(trigger ? [{ title: nameOf(trigger), href: `/triggers/${id}` }] : []),
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
          <EditForm
            trigger={trigger}
            onDone={() => go(`/triggers/${id}`)}
            cancel={
              <Button component={Link} href={`/triggers/${id}`} variant="default">
                {commonText.cancel}
              </Button>
            }
          />
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
