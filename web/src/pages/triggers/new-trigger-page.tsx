import { Button } from '@mantine/core'
import { Fragment } from 'react'
import { Link, useLocation } from 'wouter'
import { DocLink, PageHeader, useUrlStates } from '../../parts'
import { isType, kinds } from './kinds'
import { NewForm } from './new-form'
import { TypeCards } from './type-cards'
import { newTriggerPageText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** /triggers/new: first the type, then its form. `?blueprint=` and `?type=` preselect. */
export default function NewTriggerPage() {
  const [{ type, blueprint }, set] = useUrlStates({ type: '', blueprint: '' })
  const [, go] = useLocation()
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
        <TypeCards to={(one) => `/triggers/new?type=${one}${blueprint ? `&blueprint=${blueprint}` : ''}`} />
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
      <NewForm
        type={type}
        blueprint={blueprint}
        onBlueprint={(id) => set({ blueprint: id })}
        onCreated={(id) => go(`/triggers/${id}?tab=use`)}
        cancel={
          <Button
            component={Link}
            href={blueprint ? `/blueprints/${blueprint}/triggers` : '/triggers'}
            variant="default"
          >
            {commonText.cancel}
          </Button>
        }
      />
    </Fragment>
  )
}
