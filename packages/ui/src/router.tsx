import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { Frame } from './frame/frame.tsx'
import { NotFound } from './frame/not-found.tsx'
import { readRequestsSearch } from './requests/search.ts'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound })

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/requests' })
  },
})

const requests = createRoute({
  getParentRoute: () => root,
  path: '/requests',
  validateSearch: readRequestsSearch,
  component: lazyRouteComponent(() => import('./requests/page.tsx'), 'RequestsPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([overview, requests]),
  basepath: '/ui',
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
