import { useQuery } from '@tanstack/react-query'
import { useParams } from 'wouter'
import { api } from '../../api/client'
import { ErrorNote } from '../../parts'
import { BlueprintLayout } from '../blueprints/blueprint-layout'
import { Editor } from './editor'
import { EditorSkeleton } from './editor-skeleton'
import { useNodeTypes } from '../../graph/use-node-types'
import { editorPageText } from '../../text/editor'
import { commonText } from '../../text/common'

/** /blueprints/:id/edit: the visual editor. */
export default function EditorPage() {
  const { id = '' } = useParams<{ id: string }>()
  return (
    <BlueprintLayout id={id} ownRun tab={commonText.edit} waiting={<EditorSkeleton />}>
      <Loaded key={id} id={id} />
    </BlueprintLayout>
  )
}

function Loaded({ id }: { id: string }) {
  // Fetched at each opening: the editor must not start from a cached version.
  const blueprint = useQuery({
    queryKey: ['editor', id],
    queryFn: () => api.blueprint.get.query({ id }),
    gcTime: 0,
    staleTime: Infinity,
    refetchOnMount: 'always',
    refetchOnReconnect: false,
  })
  const types = useNodeTypes()
  const error = blueprint.error ?? types.error
  if (error && !(blueprint.data && types.data))
    return (
      <ErrorNote
        error={error}
        title={editorPageText.couldNotOpenTheEditor}
        onRetry={() => {
          void blueprint.refetch()
          void types.refetch()
        }}
      />
    )
  if (!blueprint.data || !types.data) return <EditorSkeleton />
  return <Editor key={blueprint.data.id} blueprint={blueprint.data} types={types.data} />
}
