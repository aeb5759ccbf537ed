import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '@mantine/core/styles.css'
import './styles/tokens.css'
import './parts/controls.css'
import { createUiRouter } from './router.tsx'
import { theme } from './theme.ts'

const queries = new QueryClient({
  // While the gateway is unreachable, requests are retried at intervals, and the last data stays on the page, marked
  // as old.
  defaultOptions: { queries: { retry: false, networkMode: 'always', refetchOnWindowFocus: true } },
})

const router = createUiRouter()
const root = document.getElementById('root')
if (root === null) throw new Error('the page has no root')
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
