import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  type AnyRouter,
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router'
import { cleanup, configure, render } from '@testing-library/react'
import userEvent, { type UserEvent } from '@testing-library/user-event'
import type { ReactElement } from 'react'
import type { TestContext } from 'node:test'
import { createUiRouter } from '../router.tsx'
import { theme } from '../theme.ts'

// `findBy…` and `waitFor` return at once when they succeed; a loaded machine may need seconds.
configure({ asyncUtilTimeout: 20_000 })

interface OpenedPage {
  readonly user: UserEvent
  /** Path and query of the page that is shown, without `/ui`. */
  readonly address: () => string
}

/** Shows a part on its own. Links have their addresses; the page they lead to is not shown. */
export function showPart(t: TestContext, part: ReactElement): Promise<OpenedPage> {
  const root = createRootRoute({ component: () => part, notFoundComponent: () => part })
  return show(t, createRouter({ routeTree: root, history: createMemoryHistory() }))
}

/** Opens a page in the frame, as people do: `/requests?q=status:404`. */
export function openPage(t: TestContext, address: string): Promise<OpenedPage> {
  return show(t, createUiRouter(createMemoryHistory({ initialEntries: [`/ui${address}`] })))
}

async function show(t: TestContext, router: AnyRouter): Promise<OpenedPage> {
  // A query that is cancelled as a test ends must not leave a timer behind.
  const defaults = { retry: false, networkMode: 'always', gcTime: Infinity } as const
  const queries = new QueryClient({ defaultOptions: { queries: defaults } })
  t.after(() => {
    cleanup()
    queries.clear()
    localStorage.clear()
  })
  const user = userEvent.setup()
  await router.load()
  render(
    <MantineProvider theme={theme} env="test" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  )
  return { user, address: () => router.latestLocation.href }
}

/** The visible text of everything that is shown. */
export function shownText(): string {
  return (document.body.textContent ?? '').trim()
}
