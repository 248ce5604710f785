import './styles'
import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client'
import { App } from './app'
import { ConfirmHost } from './parts/confirm'
import { ErrorBoundary } from './shell/error-boundary'
import { cssVariables, theme } from './theme'

// The page contains the nonce of its response; style tags without it would be blocked.
const nonce = document.querySelector('meta[property="csp-nonce"]')?.getAttribute('content') ?? ''
// The library that prevents scrolling behind a dialog reads the nonce from this name.
Object.assign(globalThis, { __webpack_nonce__: nonce })

const scheme = localStorageColorSchemeManager({ key: 'blueprintd-color-scheme' })

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      colorSchemeManager={scheme}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <ErrorBoundary>
          <App />
          <ConfirmHost />
        </ErrorBoundary>
        <Notifications position="bottom-right" limit={4} containerWidth={380} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
