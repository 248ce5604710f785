import { Skeleton } from '@mantine/core'
import { Redirect, useParams } from 'wouter'
import { BlueprintLayout } from './blueprint-layout'
import { later } from '../../parts/later'
import { NotFound } from '../../shell/not-found'
import { blueprintPageText } from '../../text/blueprints'
import { commonText } from '../../text/common'

const loading = () => <Skeleton h={320} />
const RunsView = later(async () => ({ default: (await import('../runs/runs-view')).RunsView }), loading).Component
const TriggersView = later(
  async () => ({ default: (await import('../triggers/triggers-view')).TriggersView }),
  loading,
).Component
const VersionsTab = later(() => import('./versions-tab'), loading).Component
const ShareTab = later(() => import('./share-tab'), loading).Component

const words = new Map(
  Object.entries<string>({
    runs: commonText.runs,
    triggers: commonText.triggers,
    versions: commonText.versions,
    share: blueprintPageText.share,
  }),
)

/** /blueprints/:id/:tab: the pages of a blueprint except the editor. */
export default function BlueprintPage() {
  const { id = '', tab } = useParams<{ id: string; tab?: string }>()
  if (!tab) return <Redirect to={`/blueprints/${id}/edit`} replace />
  if (!words.has(tab)) return <NotFound />
  return (
    <BlueprintLayout key={id} id={id} tab={words.get(tab)}>
      {(blueprint) => (
        <>
          {tab === 'runs' && <RunsView blueprintId={id} />}
          {tab === 'triggers' && <TriggersView blueprintId={id} canManage={blueprint.can_manage} />}
          {tab === 'versions' && <VersionsTab blueprint={blueprint} />}
          {tab === 'share' && <ShareTab blueprint={blueprint} />}
        </>
      )}
    </BlueprintLayout>
  )
}
