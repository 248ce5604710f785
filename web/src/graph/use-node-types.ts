import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client'

const catalogue = { queryKey: ['node', 'types'], queryFn: () => api.node.types.query(), staleTime: Infinity }

/** The catalogue of node types, which does not change while the server runs. */
export function useNodeTypes() {
  return useQuery(catalogue)
}

/** The same for components that render without it, such as colours: a separate request after those of the page. */
export function useNodeTypesLater() {
  return useQuery({
    ...catalogue,
    queryFn: async () => {
      await idle()
      return catalogue.queryFn()
    },
  })
}

// Safari has no requestIdleCallback.
function idle(): Promise<void> {
  return new Promise((done) => {
    if ('requestIdleCallback' in window) requestIdleCallback(() => done(), { timeout: 1000 })
    else setTimeout(done, 200)
  })
}
