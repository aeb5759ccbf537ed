import type { Directive, Handler, Route } from '../chain/routes.ts'
import { entriesOf } from '../chain/routes.ts'
import { notImported, statusReply } from '../chain/replies.ts'
import { pathAfter } from '../chain/path-state.ts'
import { FIRST_STATE, policiesOf, type State } from '../chain/state.ts'
import { withoutExcess } from '../chain/without-excess.ts'
import { withoutAbsent } from '../core/config-yaml.ts'
import type { Field } from '../core/yaml-field.ts'
import type { Condition } from '../http/conditions.ts'
import type { Action, Entry } from '../http/entries.ts'
import { type Middlewares, type PortFacts, readMiddlewares } from './middlewares.ts'
import { directiveOf, textsOf } from '../chain/field-directive.ts'
import { readRule } from './rule.ts'
import type { Service, Services } from './services.ts'

/** A router of Traefik with its rule. */
export interface Router {
  readonly name: string
  readonly field: Field
  readonly rule: Condition
  readonly priority: number
  /** The entry points of the router; empty for all entry points. */
  readonly entryPoints: readonly string[]
  readonly hasTls: boolean
  readonly middlewares: readonly string[]
  readonly service: string
}

/** Returns the routers of all files. Routers with a higher priority come first, then routers with a longer rule. */
export function readRouters(roots: readonly Field[]): Router[] {
  return roots
    .flatMap((root) =>
      (root.get('http')?.get('routers')?.members ?? []).map(([name, field]) => readRouter(name, field)),
    )
    .toSorted((one, other) => other.priority - one.priority || (one.name < other.name ? -1 : 1))
}

function readRouter(name: string, field: Field): Router {
  const [rule, priority, points, tls, middlewares, service] = [
    'rule',
    'priority',
    'entryPoints',
    'tls',
    'middlewares',
    'service',
  ].map((key) => field.get(key))
  for (const each of [priority, points, middlewares, service]) each?.carried()
  rule?.carried()
  tls?.changed('the router uses the certificates of its port', tls.get('options') !== null)
  const text = rule?.text ?? ''
  const given = priority?.number ?? 0
  return {
    ...{ name, field, rule: readRule(text), priority: given === 0 ? text.length : given, hasTls: tls != null },
    entryPoints: textsOf(points ?? null),
    middlewares: textsOf(middlewares ?? null),
    service: service?.text ?? name,
  }
}

interface Surroundings {
  readonly middlewares: Middlewares
  readonly services: Services
  readonly facts: PortFacts
  /** The middlewares of the entry point, which run before those of the router. */
  readonly first: readonly string[]
}

/** Returns the entries of a router on one port. */
export function entriesOfRouter(router: Router, { middlewares, services, facts, first }: Surroundings): Entry[] {
  const rule = router.field.get('rule') ?? router.field
  const directive: Directive = { ...directiveOf(rule, 'router'), text: router.name }
  const handlers = [
    ...readMiddlewares([...first, ...router.middlewares], middlewares, directive, facts),
    lastHandler(router, services),
  ]
  const route: Route = { statement: directive, condition: router.rule, group: null, handlers }
  const read = (): Entry[] => entriesOf([route], FIRST_STATE, [], () => [])
  return withoutExcess(directive, router.rule, read).map((entry) => ({
    ...entry,
    refused: (why) => {
      directive.notCarried(`${why}; matching requests continue with the next rule`, true)
      return null
    },
  }))
}

function lastHandler(router: Router, services: Services): Handler {
  const field = router.field.get('service') ?? router.field
  const directive: Directive = { ...directiveOf(field, 'service'), text: router.name }
  const service = services(router.service)
  if (typeof service === 'string') {
    field.notCarried(`${service}; matching requests get 501`)
    return notImported(directive)
  }
  return { kind: 'final', action: (state) => proxyAction(router, directive, service, state) }
}

function proxyAction({ name }: Router, directive: Directive, { backends, policies }: Service, state: State): Action {
  const { path } = state
  if (path === null) return statusReply(directive, 501, state)
  const found = policiesOf(state, true)
  const { hostRewrite, ...others } = policies
  return {
    ...{ name, at: directive.at, source: name },
    backends: backends.map(({ host, weight, policies: own }) =>
      withoutAbsent({ host, weight: weight === 1 ? undefined : weight, policies: own ?? undefined }),
    ),
    policies: { ...found, ...('urlRewrite' in found ? {} : { hostRewrite }), ...others },
    outcome: {
      kind: 'proxy',
      addresses: backends.filter(({ weight }) => weight > 0).map(({ host }) => host),
      pathFor: (text) => pathAfter(path, text),
    },
  }
}
