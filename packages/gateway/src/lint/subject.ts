import type { ProcessConfig } from '../sources/config/schema.ts'
import { type Effective, indexPolicies, type PolicyIndex, setsOfListeners } from '../ir/merge.ts'
import { PoliciesByTarget } from '../ir/policies-by-target.ts'
import type { AttachedPolicy, Backend, Bind, Ir, Listener, Route, RouteBackend } from '../ir/resources.ts'
import type { BackendPolicies, FrontendPolicies, TrafficPolicies } from '../policies/index.ts'
import type { Path } from '../schema/problem.ts'
import type { Environment } from '../sources/substitute.ts'
import { rawSecrets, type RawSecret } from './raw-secrets.ts'

/** The inputs of a lint run beside the config. */
export interface LintWorld {
  readonly env: Environment
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A config as checks read it. */
export interface LintSubject extends LintWorld {
  readonly ir: Ir
  readonly process: ProcessConfig
  readonly frontend: FrontendPolicies
  readonly routes: readonly RouteView[]
  /** Secrets that the text of the file contains; empty for manifests. */
  readonly secrets: readonly RawSecret[]
  /** Whether the config is a single file. */
  readonly isFile: boolean
}

/** A route with everything that applies to it. */
export interface RouteView {
  readonly route: Route
  readonly listener: Listener
  readonly bind: Bind
  /** After routing. */
  readonly traffic: Effective<TrafficPolicies>
  /** Before routing. */
  readonly early: Effective<TrafficPolicies>
  readonly backends: readonly BackendView[]
}

/** A backend of a route, or a part of it: a provider or an MCP target. */
interface BackendView {
  readonly entry: RouteBackend
  readonly backend: Backend
  readonly policies: BackendPolicies
  /** Rules for MCP items of all attachments. */
  readonly mcpRules: ReturnType<PolicyIndex['mcpAuthorization']>
}

export function createSubject(
  { ir, process, text }: { ir: Ir; process: ProcessConfig; text: string | null },
  world: LintWorld,
): LintSubject {
  const index = indexPolicies(
    PoliciesByTarget.of(ir.policies),
    new Set(['authorization'] as const),
    setsOfListeners(ir.listeners),
  )
  const listeners = new Map(ir.listeners.map((listener) => [listener.key, listener]))
  const binds = new Map(ir.binds.map((bind) => [bind.key, bind]))
  const backends = new Map(ir.backends.map((backend) => [backend.key, backend]))
  const routes = ir.routes.flatMap((route): RouteView[] => {
    const listener = listeners.get(route.listener)
    const bind = listener === undefined ? undefined : binds.get(listener.bind)
    if (listener === undefined || bind === undefined) return []
    const parent = `${route.listener}/${route.name}`
    return [
      {
        ...{ route, listener, bind },
        traffic: index.traffic({ listener: route.listener, key: route.key, parent }),
        early: index.preRouting(route.listener),
        backends: route.backends.flatMap((entry) => {
          const backend = backends.get(entry.backend)
          if (backend === undefined) return []
          const at = { listener: route.listener, route: route.key, parent, backend: backend.key, entry: entry.key }
          return [undefined, ...sectionsOf(backend)].map((section) => {
            const place = section === undefined ? at : { ...at, section }
            return { entry, backend, policies: index.backend(place), mcpRules: index.mcpAuthorization(place) }
          })
        }),
      },
    ]
  })
  return {
    ...{ ir, process, routes, ...world, frontend: index.frontend() },
    secrets: text === null ? [] : rawSecrets(text),
    isFile: text !== null,
  }
}

function sectionsOf({ target }: Backend): string[] {
  if (target.kind === 'mcp') return target.targets.map(({ key }) => key)
  return target.kind === 'ai' ? target.groups.flat().map(({ key }) => key) : []
}

/** The effective config of a traffic policy of a route, in either phase; undefined without one. */
export function policyOf<Name extends keyof TrafficPolicies>(
  { traffic, early }: RouteView,
  name: Name,
): NonNullable<TrafficPolicies[Name]> | undefined {
  return (traffic[name] ?? early[name])?.configs.at(-1)
}

/** All authorization rules of a route, of both phases. */
export function rulesOf({ traffic, early }: RouteView): LocatedRule[] {
  return [...(early.authorization?.configs ?? []), ...(traffic.authorization?.configs ?? [])].flatMap(rulesIn)
}

/** A rule with its location: `path` is below `part`. */
export interface LocatedRule {
  readonly mode: 'allow' | 'deny' | 'require'
  readonly expression: string
  readonly part: object
  readonly path: Path
}

type RuleBlock = NonNullable<TrafficPolicies['authorization']>

export function rulesIn(block: RuleBlock): LocatedRule[] {
  const listed = (block.rules ?? []).map(({ mode, expression }, index) => ({
    ...{ mode, expression, part: block },
    path: ['rules', index],
  }))
  const mode = (block.action ?? 'Allow').toLowerCase() as LocatedRule['mode']
  const matched = (block.policy?.matchExpressions ?? []).map((expression, index) => ({
    ...{ mode, expression, part: block },
    path: ['policy', 'matchExpressions', index],
  }))
  return [...listed, ...matched]
}

type Section<Name extends 'frontend' | 'traffic' | 'backend'> = NonNullable<AttachedPolicy[Name]>

function sectionOf<S extends 'frontend' | 'traffic' | 'backend'>(
  policy: AttachedPolicy,
  section: S,
): Section<S> | null {
  return policy[section]
}

/** The configs of a policy, wherever it is attached; each object once. */
export function configsOf<S extends 'frontend' | 'traffic' | 'backend', Name extends keyof Section<S>>(
  { ir }: LintSubject,
  section: S,
  name: Name,
): NonNullable<Section<S>[Name]>[] {
  const found = ir.policies.flatMap((policy) => {
    const config = sectionOf(policy, section)?.[name]
    return config === undefined || config === null ? [] : [config]
  })
  return [...new Set(found)]
}

/** A form of a policy that may be conditional. */
interface PolicyForm<Config> {
  readonly config: Config
  readonly path: Path
}

/** The forms of a conditional policy, or the policy itself as its only form. */
export function formsOf<Config extends object>(
  policy: Config & { conditional?: readonly { policy: unknown }[] | undefined },
): PolicyForm<Omit<Config, 'conditional'>>[] {
  if (policy.conditional === undefined) return [{ config: policy, path: [] }]
  return policy.conditional.map((form, index) => ({
    config: form.policy as Omit<Config, 'conditional'>,
    path: ['conditional', index, 'policy'],
  }))
}
