import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Redirect, useParams } from 'wouter'
import { BlueprintLayout } from './blueprint-layout'
import { NotFound } from '../../shell/not-found'
import { blueprintPageText } from '../../text/blueprints'
import { commonText } from '../../text/common'

const RunsView = lazy(async () => ({ default: (await import('../runs/runs-view')).RunsView }))
const TriggersView = lazy(async () => ({ default: (await import('../triggers/triggers-view')).TriggersView }))
const VersionsTab = lazy(() => import('./versions-tab'))
const ShareTab = lazy(() => import('./share-tab'))

const words: Record<string, string> = {
  runs: commonText.runs,
  triggers: commonText.triggers,
  versions: commonText.versions,
  share: blueprintPageText.share,
}

/** /blueprints/:id/:tab: the pages of a blueprint except the editor. */
export default function BlueprintPage() {
  const { id = '', tab } = useParams<{ id: string; tab?: string }>()
  if (!tab) return <Redirect to={`/blueprints/${id}/edit`} replace />
  if (!Object.hasOwn(words, tab)) return <NotFound />
  return (
    <BlueprintLayout key={id} id={id} tab={words[tab]}>
      {(blueprint) => (
        <Suspense fallback={<Skeleton h={320} />}>
          {tab === 'runs' && <RunsView blueprintId={id} />}
          {tab === 'triggers' && <TriggersView blueprintId={id} canManage={blueprint.can_manage} />}
          {tab === 'versions' && <VersionsTab blueprint={blueprint} />}
          {tab === 'share' && <ShareTab blueprint={blueprint} />}
        </Suspense>
      )}
    </BlueprintLayout>
  )
}
