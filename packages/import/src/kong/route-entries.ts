import { statusReply } from '../chain/replies.ts'
import type { Directive } from '../chain/routes.ts'
import { policiesOf, type RequestHeader } from '../chain/state.ts'
import { withoutAbsent } from '../core/config-yaml.ts'
import { positionText } from '../core/source.ts'
import type { Field } from '../core/yaml-field.ts'
import type { Action, Entry } from '../http/entries.ts'
import type { ServiceTarget } from './backends.ts'
import { choosePlugins } from './chosen-plugins.ts'
import { AUTHENTICATION } from './plugins/registry.ts'
import {
  conditionOf,
  FIRST_PLUGIN_STATE,
  type Identity,
  type PluginState,
  type ReadPlugin,
  type RouteFacts,
} from './plugins/plugin.ts'
import type { Plugin } from './scopes.ts'
import type { RouteMatch } from './route-match.ts'
import type { Route } from './model.ts'
import { type PathRules, type UpstreamPath, upstreamPath } from './upstream-path.ts'

export interface RouteSurroundings {
  readonly isTls: boolean
  readonly plugins: readonly Plugin[]
  read(this: void, plugin: Plugin): ReadPlugin
  target(this: void, route: Route): ServiceTarget | string
}

/** Returns the entry of a route on a port, for one of the route's paths. */
export function entryOf(route: Route, match: RouteMatch, surroundings: RouteSurroundings): Entry {
  const { field } = route.entity
  const directive = directiveOf(field, route.label)
  const action = actionOf(route, match, directive, surroundings)
  return {
    condition: match.condition,
    action,
    refused: (why) => {
      directive.notCarried(`${why}; requests that may match get 403`, true)
      return { condition: match.wide, action: closedAction(directive) }
    },
  }
}

function directiveOf(field: Field, label: string): Directive {
  const place = field.get('name') ?? field
  return {
    ...{ name: 'route', at: field.at, text: label },
    carried: (note) => place.carried(note),
    changed: (note, isProtection) => place.changed(note, isProtection),
    notCarried: (note, isProtection) => place.notCarried(note, isProtection),
  }
}

/** Returns an action that denies all requests of a route. */
function closedAction(directive: Directive): Action {
  const body = `not imported: ${directive.text.slice(0, 40)} at ${positionText(directive.at)}\n`
  return named(statusReply(directive, 403, FIRST_PLUGIN_STATE, { body }), directive)
}

function named(action: Action, { text }: Directive): Action {
  return { ...action, name: text }
}

function actionOf(route: Route, match: RouteMatch, directive: Directive, surroundings: RouteSurroundings): Action {
  const redirect = surroundings.isTls ? null : httpsRedirect(route, directive)
  if (redirect !== null) return redirect
  const state = stateOf(route, surroundings)
  if (state === null) return closedAction(directive)
  const [reply] = state.replies
  if (reply !== undefined && reply.condition === undefined) {
    return named(statusReply(directive, reply.policy.status, state, reply.policy), directive)
  }
  const redirected = state.policies['requestRedirect'] as { status: number } | undefined
  if (redirected !== undefined) {
    const found = named(statusReply(directive, redirected.status, state), directive)
    return { ...found, policies: withoutAbsent({ ...found.policies, directResponse: undefined }) }
  }
  const target = surroundings.target(route)
  if (state.model !== null) return modelAction(route, directive, state, typeof target === 'string' ? null : target)
  if (typeof target === 'string') {
    directive.notCarried(`${target}; matching requests get 501`)
    return named(statusReply(directive, 501, state), directive)
  }
  return proxyAction(route, match, directive, state, target)
}

/**
 * Returns the response to requests on a port without TLS when the route requires TLS; null when the route accepts plain
 * HTTP.
 */
function httpsRedirect({ entity }: Route, directive: Directive): Action | null {
  const status = entity.get('https_redirect_status_code')
  status?.carried()
  const protocols = (entity.get('protocols')?.items ?? []).flatMap(({ text }) => text ?? [])
  if (protocols.length === 0 || protocols.some((each) => ['http', 'grpc', 'ws'].includes(each))) return null
  const code = status?.number ?? 426
  const reply = statusReply(directive, code, FIRST_PLUGIN_STATE, {
    body: '{"message":"Please use HTTPS protocol"}',
    headers: [{ name: 'content-type', value: 'application/json; charset=utf-8' }],
  })
  if (![301, 302, 303, 307, 308].includes(code)) return named(reply, directive)
  return named({ ...reply, policies: { requestRedirect: { scheme: 'https', status: code } } }, directive)
}

/**
 * Returns the effects of all plugins of a route; null when the route must be closed because a plugin cannot be
 * imported.
 */
function stateOf(route: Route, { isTls, plugins, read }: RouteSurroundings): PluginState | null {
  const chosen = choosePlugins(plugins, route, isTls)
  const identities: Identity[] = AUTHENTICATION.flatMap((name) => {
    const base = chosen.get(name)?.base ?? null
    return base === null ? [] : (read(base).identity ?? [])
  })
  const facts: RouteFacts = { isTls, identities }
  let state: PluginState | null = { ...FIRST_PLUGIN_STATE, request: identityHeaders(identities) }
  const names = [...AUTHENTICATION.filter((name) => chosen.has(name)), ...chosen.keys()]
  for (const name of new Set(names)) {
    const { base, ofConsumers } = chosen.get(name) ?? { base: null, ofConsumers: [] }
    const others: string[] = []
    for (const { plugin, consumers } of ofConsumers) {
      const isOne = conditionOf(consumers, identities)
      // The condition is `false` when no credential of this route belongs to one of the plugin's consumers.
      if (isOne === null || isOne === 'false' || state === null) continue
      const { effect } = read(plugin)
      state = effect(state, [...others.map((each) => `!(${each})`), isOne].join(' && '), facts)
      others.push(isOne)
    }
    if (base !== null && state !== null) {
      const { effect } = read(base)
      state = effect(state, others.length === 0 ? null : others.map((each) => `!(${each})`).join(' && '), facts)
    }
  }
  // Prompt policies need a language model, so a route with prompt policies and no model is closed.
  if (state === null || (state.model === null && Object.keys(state.ai).length > 0)) return null
  const isPassed =
    state.model === null && identities.length > 0 && identities.every(({ hidesCredential }) => !hidesCredential)
  return isPassed ? withBackend(state, { auth: { passthrough: {} } }) : state
}

/** Returns the request headers that tell the service which consumer the client is. */
function identityHeaders(identities: readonly Identity[]): RequestHeader[] {
  if (identities.length === 0) return []
  const of = (values: readonly string[]): string =>
    values.length === 1 ? (values[0] ?? '') : `coalesce(${values.join(', ')})`
  const names = of(identities.map(({ name }) => name))
  const anonymous = identities.find((each) => each.anonymous !== null)?.anonymous ?? null
  const ids = identities.flatMap(({ customId }) => customId ?? [])
  return [
    {
      ...{ name: 'x-consumer-username', when: null },
      value: anonymous === null ? names : `coalesce(${names}, ${JSON.stringify(anonymous.name)})`,
    },
    ...(ids.length === 0 ? [] : [{ name: 'x-consumer-custom-id', value: of(ids), when: null }]),
  ]
}

function withBackend(state: PluginState, policies: object): PluginState {
  const known = state.policies['backend'] as object | undefined
  return { ...state, policies: { ...state.policies, backend: { ...known, ...policies } } }
}

function proxyAction(
  route: Route,
  match: RouteMatch,
  directive: Directive,
  state: PluginState,
  target: ServiceTarget,
): Action {
  const path = pathOf(route, match, state, target)
  if (typeof path === 'string') {
    directive.notCarried(`${path}; matching requests get 501`)
    return named(statusReply(directive, 501, state), directive)
  }
  const expression = queried(path.expression, state.queryCalls)
  const changed: PluginState =
    expression === null
      ? state
      : { ...state, request: [...state.request, { name: ':path', value: expression, when: null }] }
  const isHostKept = route.entity.get('preserve_host')?.isTrue === true
  const { backends } = target
  const { pathFor } = path
  return {
    ...{ name: route.label, at: directive.at, source: route.label },
    policies: withoutAbsent({
      ...proxyPolicies(changed, target),
      ...target.policies,
      hostRewrite: isHostKept ? { mode: 'None' } : undefined,
    }),
    backends: backends.map(({ host, weight, policies }) => {
      const { urlRewrite, ...others } = policies
      const printed = isHostKept || urlRewrite === undefined ? others : policies
      return withoutAbsent({
        host,
        weight: weight === 1 || backends.length === 1 ? undefined : weight,
        policies: Object.keys(printed).length === 0 ? undefined : printed,
      })
    }),
    outcome:
      pathFor === null || state.queryCalls.length > 0
        ? { kind: 'untold' }
        : {
            kind: 'proxy',
            addresses: backends.filter(({ weight }) => weight > 0).map(({ address }) => address),
            pathFor,
          },
  }
}

/** Returns the action for requests to a language model. The end of the request path tells the kind of the request. */
function modelAction({ label }: Route, directive: Directive, state: PluginState, target: ServiceTarget | null): Action {
  const policies = { ...state.model?.policies, ...(Object.keys(state.ai).length > 0 && { ai: state.ai }) }
  return {
    ...{ name: label, at: directive.at, source: label },
    policies: proxyPolicies(state, target),
    backends: [{ ...state.model, policies: Object.keys(policies).length === 0 ? undefined : policies }].map(
      withoutAbsent,
    ),
    outcome: { kind: 'untold' },
  }
}

function proxyPolicies(state: PluginState, target: ServiceTarget | null): Record<string, unknown> {
  const { backend: own, ...found } = policiesOf(state, true)
  const backend = { ...target?.backendPolicies, ...(own as object | undefined) }
  return withoutAbsent({
    ...found,
    directResponse: state.replies.length === 0 ? undefined : { conditional: state.replies },
    backend: Object.keys(backend).length === 0 ? undefined : backend,
  })
}

function pathOf(
  route: Route,
  match: RouteMatch,
  { newPath }: PluginState,
  target: ServiceTarget,
): UpstreamPath | string {
  if (newPath === null) return upstreamPath(match.path, pathRules(route, target.path))
  return {
    expression: `${JSON.stringify(newPath)} + request.pathAndQuery.substring(request.path.size())`,
    pathFor: () => newPath,
  }
}

function queried(expression: string | null, calls: readonly string[]): string | null {
  return calls.length === 0 ? expression : `(${expression ?? 'request.pathAndQuery'})${calls.join('')}`
}

function pathRules({ entity }: Route, base: string): PathRules {
  const [strip, handling] = [entity.get('strip_path'), entity.get('path_handling')]
  return {
    base,
    isStripped: strip?.text?.toLowerCase() !== 'false',
    handling: handling?.text === 'v1' ? 'v1' : 'v0',
  }
}
