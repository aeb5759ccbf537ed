import { pathAfter } from '../../chain/path-state.ts'
import { notImported, statusReply } from '../../chain/replies.ts'
import type { Directive, Handler } from '../../chain/routes.ts'
import { policiesOf, type State } from '../../chain/state.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Action } from '../../http/entries.ts'
import type { Clusters } from '../clusters/clusters.ts'
import { destinationsOf } from '../clusters/destinations.ts'
import { listAt, memberAt, secondsOf } from '../messages/message.ts'
import { routeUpgrades } from '../messages/upgrades.ts'
import { mirrorPolicy, sessionPolicy } from './route-extras.ts'
import { noteRouteAction } from './route-notes.ts'
import { readRetry } from './retry.ts'
import { rewritesOf } from './rewrites.ts'
import type { Services } from '../clusters/services.ts'

/** The context in which the action of a route is read. */
interface ActionContext {
  readonly directive: Directive
  /** The name of the route in the imported config. */
  readonly name: string
  readonly clusters: Clusters
  readonly services: Services
  /** The upgrades that the connection manager allows (`true`) or forbids (`false`), by name in lower case. */
  readonly upgrades: ReadonlyMap<string, boolean>
  /** The text at the start of the path that `prefix_rewrite` replaces; null when a rewrite replaces the whole path. */
  readonly matchedPath: string | null
  /** The virtual host and the route table, in this order. */
  readonly parents: readonly (Field | null)[]
}

/** The seconds after which Envoy ends a request when the route has no `timeout`. */
const STANDARD_SECONDS = 15

/** Reads a RouteAction: backends, rewrites, time limits and retries. */
export function readRouteAction(route: Field, context: ActionContext): Handler[] {
  const { directive, clusters, services, parents } = context
  const found = destinationsOf(route, clusters)
  const notes = noteRouteAction(route)
  const why = typeof found === 'string' ? found : notes
  if (typeof found === 'string' || notes !== null) {
    directive.notCarried(`${why}; matching requests get 501`)
    return [notImported(directive)]
  }
  const rewrites = rewritesOf(route, context.matchedPath)
  if (typeof rewrites === 'string') {
    directive.notCarried(`${rewrites}; matching requests get 501`)
    return [notImported(directive)]
  }
  const [host] = parents
  const { retry, attemptSeconds } = readRetry(memberAt(route, 'retry_policy') ?? memberAt(host ?? null, 'retry_policy'))
  const mirrors = [route, ...parents].find((level) => listAt(level, 'request_mirror_policies').length > 0) ?? null
  const policies = withoutAbsent({
    timeouts: timeoutPolicy(route),
    retry,
    requestMirror: mirrorPolicy(mirrors, services),
    sessionPersistence: sessionPolicy(route),
    upgrades: routeUpgrades(route, context.upgrades),
  })
  const backends = found.backends.map(({ policies: own, ...backend }) => {
    const limited =
      attemptSeconds === null
        ? own
        : { ...own, http: { ...(own['http'] as object | undefined), requestTimeout: durationText(attemptSeconds) } }
    return withoutAbsent({ ...backend, policies: Object.keys(limited).length === 0 ? undefined : limited })
  })
  return [
    ...rewrites.handlers,
    {
      kind: 'final',
      action: (state) =>
        proxyAction(
          context,
          { backends, addresses: found.addresses, policies: { ...policies, ...rewrites.host } },
          state,
        ),
    },
  ]
}

function timeoutPolicy(route: Field): object | undefined {
  const timeout = memberAt(route, 'timeout')
  timeout?.carried()
  const seconds = secondsOf(timeout) ?? STANDARD_SECONDS
  return seconds === 0 ? undefined : { request: durationText(seconds) }
}

interface ProxyTarget {
  readonly backends: readonly object[]
  /** The addresses that generated tests expect; null when each request decides its destination. */
  readonly addresses: readonly string[] | null
  readonly policies: Readonly<Record<string, unknown>>
}

/** Policies whose effect on a request generated tests cannot predict: they call a service, or decide at random. */
const UNTOLD = ['extProc', 'abort']

function proxyAction(
  { directive, name }: ActionContext,
  { backends, addresses, policies }: ProxyTarget,
  state: State,
): Action {
  const { path } = state
  if (path === null) return statusReply(directive, 501, state)
  const found = withoutForwarding(policiesOf(state, true), state)
  const { hostRewrite, ...others } = policies
  const all: Record<string, unknown> = {
    ...found,
    ...('urlRewrite' in found || 'urlRewrite' in others ? {} : withoutAbsent({ hostRewrite })),
    ...others,
  }
  const isUntold =
    addresses === null ||
    UNTOLD.some((key) => key in all) ||
    'global' in ((all['rateLimit'] as object | undefined) ?? {}) ||
    state.request.some((each) => each.name === ':path')
  return {
    ...{ name, at: directive.at, source: directive.text, backends, policies: all },
    outcome: isUntold ? { kind: 'untold' } : { kind: 'proxy', addresses, pathFor: (text) => pathAfter(path, text) },
  }
}

/** Leaves out the policy that forwards the client's credential when a header change sets `authorization`. */
function withoutForwarding(policies: Record<string, unknown>, { request }: State): Record<string, unknown> {
  if (!request.some(({ name }) => name === 'authorization')) return policies
  const { backend: _backend, ...others } = policies
  return others
}
