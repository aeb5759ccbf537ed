import type { Consumer } from './consumers.ts'
import type { Plugin } from './scopes.ts'
import { rankOf } from './scopes.ts'
import type { Route } from './model.ts'

/** The plugins with one name that apply to a route. */
interface ChosenPlugins {
  /** The plugin for clients that no plugin in `ofConsumers` applies to; null when there is none. */
  readonly base: Plugin | null
  /** Plugins for certain consumers. The first plugin whose consumers include the client applies. */
  readonly ofConsumers: readonly { readonly plugin: Plugin; readonly consumers: readonly Consumer[] }[]
}

/** Returns the plugins of a route by plugin name. Kong runs only the most specific of several plugins with one name. */
export function choosePlugins(plugins: readonly Plugin[], route: Route, isTls: boolean): Map<string, ChosenPlugins> {
  const own = plugins.filter(
    (plugin) =>
      (plugin.route === null || plugin.route === route) &&
      (plugin.service === null || plugin.service === route.service) &&
      (isTls ? plugin.isForTls : plugin.isForHttp),
  )
  return new Map([...Map.groupBy(own, ({ name }) => name)].map(([name, list]) => [name, choose(list)]))
}

function choose(plugins: readonly Plugin[]): ChosenPlugins {
  const sorted = plugins.toSorted((one, other) => rankOf(one) - rankOf(other))
  const base = sorted.find(({ consumers }) => consumers === null) ?? null
  const before = base === null ? sorted : sorted.slice(0, sorted.indexOf(base))
  return {
    base,
    ofConsumers: before.flatMap((plugin) =>
      plugin.consumers === null || plugin.consumers.length === 0 ? [] : [{ plugin, consumers: plugin.consumers }],
    ),
  }
}
