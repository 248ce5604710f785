import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client'

const catalogue = { queryKey: ['node', 'types'], queryFn: () => api.node.types.query(), staleTime: Infinity }

/** The catalogue of node types; it stays the same while the server runs. */
export function useNodeTypes() {
  return useQuery(catalogue)
}

/** The same for what is complete without it, such as colours: a request of its own, once the page has what it needs. */
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
