import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { api } from '../../api/client'
import { queryClient } from '../../api/query-client'
import type { Blueprint } from '../../api/use-blueprint'
import { confirm, notifyDone, notifyError } from '../../parts'
import type { DraftOf } from './drafts'
import { applyText } from '../../text/blueprints'

/** Applies an agent's draft after a question, and opens the blueprint. */
export function useApply() {
  const [, navigate] = useLocation()
  const applying = useMutation({
    mutationFn: ({ draft: { id, version }, of }: { draft: Blueprint; of?: string | undefined }) =>
      api.draft.apply.mutate({ id, version, ...(of ? { of } : {}) }),
    onSuccess: (after) => {
      void queryClient.invalidateQueries({ queryKey: ['blueprint'] })
      void queryClient.invalidateQueries({ queryKey: ['blueprints'] })
      notifyDone(applyText.applied(after.title, after.version))
      navigate(`/blueprints/${after.id}/versions`)
    },
    onError: notifyError,
  })
  const apply = async (draft: Blueprint, { of }: DraftOf) => {
    const agreed = await confirm({
      title: of ? applyText.applyThisDraft : applyText.publishThisDraft,
      text: of ? applyText.itBecomesTheNewVersion : applyText.itBecomesABlueprint,
      action: of ? applyText.apply : applyText.publish,
    })
    if (agreed) applying.mutate({ draft, of })
  }
  return { apply, applying: applying.isPending }
}
