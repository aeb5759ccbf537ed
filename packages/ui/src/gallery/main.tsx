import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import '@mantine/core/styles.css'
import '../styles/tokens.css'
import '../parts/controls.css'
import { theme } from '../theme.ts'
import { Gallery } from './gallery.tsx'

// Links of parts lead nowhere: this history has no pages of the UI.
const route = createRootRoute({ component: Gallery, notFoundComponent: Gallery })
const router = createRouter({ routeTree: route, history: createMemoryHistory() })
const root = document.getElementById('root')
if (root === null) throw new Error('parts.html has no element #root')
createRoot(root).render(
  <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
    <QueryClientProvider client={new QueryClient()}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
)
