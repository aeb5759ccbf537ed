import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
} from '@tanstack/react-router'
import { readConfigSearch } from './config/search.ts'
import { readExpressionsSearch } from './expressions/search.ts'
import { Frame } from './frame/frame.tsx'
import { NotFound } from './frame/not-found.tsx'
import { PageError } from './frame/page-error.tsx'
import { readKeysSearch } from './keys/search.ts'
import { readMetricsSearch } from './metrics/search.ts'
import { readModelsSearch } from './models/search.ts'
import { readOverviewSearch } from './overview/search.ts'
import { readRequestsSearch } from './requests/search.ts'
import { readRoutesSearch } from './routes/search.ts'
import { readSpendSearch } from './spend/search.ts'
import { readToolsSearch } from './tools/search.ts'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound })

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import('./overview/page.tsx'), 'OverviewPage'),
})

const requests = createRoute({
  getParentRoute: () => root,
  path: '/requests',
  validateSearch: readRequestsSearch,
  component: lazyRouteComponent(() => import('./requests/page.tsx'), 'RequestsPage'),
})

const routes = createRoute({
  getParentRoute: () => root,
  path: '/routes',
  validateSearch: readRoutesSearch,
  component: lazyRouteComponent(() => import('./routes/page.tsx'), 'RoutesPage'),
})

const models = createRoute({
  getParentRoute: () => root,
  path: '/models',
  validateSearch: readModelsSearch,
  component: lazyRouteComponent(() => import('./models/page.tsx'), 'ModelsPage'),
})

const tools = createRoute({
  getParentRoute: () => root,
  path: '/tools',
  validateSearch: readToolsSearch,
  component: lazyRouteComponent(() => import('./tools/page.tsx'), 'ToolsPage'),
})

const expressions = createRoute({
  getParentRoute: () => root,
  path: '/expressions',
  validateSearch: readExpressionsSearch,
  component: lazyRouteComponent(() => import('./expressions/page.tsx'), 'ExpressionsPage'),
})

const metrics = createRoute({
  getParentRoute: () => root,
  path: '/metrics',
  validateSearch: readMetricsSearch,
  component: lazyRouteComponent(() => import('./metrics/page.tsx'), 'MetricsPage'),
})

const spend = createRoute({
  getParentRoute: () => root,
  path: '/spend',
  validateSearch: readSpendSearch,
  component: lazyRouteComponent(() => import('./spend/page.tsx'), 'SpendPage'),
})

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  validateSearch: readKeysSearch,
  component: lazyRouteComponent(() => import('./keys/page.tsx'), 'KeysPage'),
})

const config = createRoute({
  getParentRoute: () => root,
  path: '/config',
  validateSearch: readConfigSearch,
  component: lazyRouteComponent(() => import('./config/page.tsx'), 'ConfigPage'),
})

const routeTree = root.addChildren([
  overview,
  requests,
  routes,
  models,
  tools,
  expressions,
  metrics,
  spend,
  keys,
  config,
])

/** `createUiRouter` leads to the pages of the UI. The history is the window's, unless a test has one of its own. */
export function createUiRouter(history?: RouterHistory) {
  return createRouter({
    routeTree,
    basepath: '/ui',
    defaultErrorComponent: PageError,
    defaultPreload: 'intent',
    ...(history !== undefined && { history }),
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createUiRouter>
  }
}
