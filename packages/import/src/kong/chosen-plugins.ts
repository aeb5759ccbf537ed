import type { Consumer } from './consumers.ts'
import type { Plugin } from './scopes.ts'
import { rankOf } from './scopes.ts'
import type { Route } from './model.ts'

/** The plugins with one name that apply to a route. */
interface ChosenPlugins {
  /** For clients that none of the others takes; null when there is none. */
  readonly base: Plugin | null
  /** Plugins for some consumers, the first one that fits applies. */
  readonly ofConsumers: readonly { readonly plugin: Plugin; readonly consumers: readonly Consumer[] }[]
}

/** The plugins of a route by name. Kong runs the most specific plugin of each name. */
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
