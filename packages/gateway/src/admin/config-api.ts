import type { IncomingMessage } from 'node:http'
import type { ConfigEditSource } from './config-edit-api.ts'
import type { BackendsView, ConfigView, RoutesView } from './config-view.ts'
import type { ListenerSource } from './send/reachable-listener.ts'
import { pathOf, queryOf, type Reply, text } from './http.ts'
import { later } from './json-reply.ts'

/** The live config, as the main thread provides it. */
export interface ConfigSource extends ListenerSource {
  routes(): RoutesView
  backends(): Promise<BackendsView>
  config(): ConfigView
  edits: ConfigEditSource
}

/** The endpoints, as the start page of the admin server lists them. */
export const CONFIG_ROUTES: readonly { path: string; summary: string }[] = [
  { path: '/api/routes', summary: 'binds, listeners and routes, each with the policies that apply' },
  {
    path: '/api/backends',
    summary: 'backends, providers and targets: their health, and which are evicted until when',
  },
  { path: '/api/config', summary: 'the text of the config file with redacted secrets, and its problems' },
]

/** Null for a path that is none of them. */
export function answerConfigApi(request: IncomingMessage, source: ConfigSource): Reply | null {
  const path = pathOf(request)
  const views: Readonly<Record<string, () => object | Promise<object>>> = {
    '/api/routes': () => source.routes(),
    '/api/backends': () => source.backends(),
    '/api/config': () => source.config(),
  }
  const view = CONFIG_ROUTES.some((route) => route.path === path) ? views[path ?? ''] : undefined
  if (view === undefined) return null
  const [unknown] = queryOf(request).keys()
  if (unknown !== undefined) return text(400, `unknown parameter ${JSON.stringify(unknown)}, expected none\n`)
  return later(Promise.resolve(view()))
}
