import type { Endpoints } from '@portico/http/client'
import type { Env } from '../../../pipeline/context/step.ts'
import type { ReadyProvider } from '../provider.ts'
import { failureKinds } from './failure-kind.ts'
import { ModelNames } from '../../../formats/model-names.ts'
import {
  type Fallback,
  type ModelRoute,
  type ProviderRoute,
  type RouteTarget,
  TargetCondition,
  type VirtualRoute,
} from './model-route.ts'
import { type AskedName, ModelRouter, type ReadyModel } from './model-router.ts'
import type { AiModel } from './schema.ts'

/** Creates the router for the models of a backend; a model that is not virtual has the provider of the same name. */
export function createModelRouter(
  models: readonly AiModel[],
  providers: readonly ReadyProvider[],
  { env, endpoints }: { env: Env; endpoints: Endpoints },
): ModelRouter {
  const { random, monotonic, clock } = env
  const routes = new Routes(models, providers, env)
  const ready = models.map(({ name, visibility }): ReadyModel => {
    return { name, isPublic: visibility === 'Public', allow: routes.allowOf(name), routeOf: routes.routeOf(name) }
  })
  return new ModelRouter(ready, { endpoints, random, monotonic, clock })
}

/** The routes of the models, resolved when the config is loaded. */
class Routes {
  readonly #names: ModelNames<AiModel>
  readonly #models: ReadonlyMap<string, AiModel>
  readonly #providers: ReadonlyMap<string, ReadyProvider>
  readonly #env: Env
  readonly #virtual = new Map<string, VirtualRoute>()
  /** The routes to names in the config: equal names have one route, so that a call tries its provider once. */
  readonly #named = new Map<string, ModelRoute>()

  constructor(models: readonly AiModel[], providers: readonly ReadyProvider[], env: Env) {
    this.#names = new ModelNames(models)
    this.#models = new Map(models.map((model) => [model.name, model]))
    this.#providers = new Map(providers.map((provider) => [provider.name, provider]))
    this.#env = env
  }

  /** The route of one model for each name that it matches. Names of patterns are cached, because clients choose them. */
  routeOf(name: string): ReadyModel['routeOf'] {
    const model = this.#modelOf(name)
    if (model.targets !== undefined) {
      const route = this.#virtualRoute(model)
      return () => route
    }
    const known = new Map<string, ProviderRoute>()
    return (asked) => {
      const before = known.get(asked.name)
      if (before !== undefined) return before
      const route = this.#providerRoute(model, asked)
      if (known.size === MAX_CACHED_NAMES) known.clear()
      if (route !== null) known.set(asked.name, route)
      return route
    }
  }

  allowOf(name: string): ReadyModel['allow'] {
    const { allow } = this.#modelOf(name)
    return allow === undefined ? null : this.#env.cel(allow, 'llmRoute')
  }

  #modelOf(name: string): AiModel {
    const model = this.#models.get(name)
    if (model === undefined) throw new Error(`there is no model ${name}`)
    return model
  }

  /** The route to a name in the config. */
  #routeTo(name: string): ModelRoute {
    const known = this.#named.get(name)
    if (known !== undefined) return known
    const found = this.#names.find(name)
    if (found === null) throw new Error(`there is no model ${name}`)
    const route =
      found.model.targets === undefined ? this.#providerRoute(found.model, found) : this.#virtualRoute(found.model)
    if (route === null) throw new Error(`the model ${name} has no name for its provider`)
    this.#named.set(name, route)
    return route
  }

  /** Null when neither the request nor the config names a model for the provider. */
  #providerRoute(model: AiModel, { name, ownName, star }: AskedName): ProviderRoute | null {
    const provider = this.#providers.get(model.name)
    if (provider === undefined) throw new Error(`the model ${model.name} has no provider`)
    const configured = provider.vendor.model ?? ownName
    if (configured === '' || (star === '' && configured.includes('*'))) return null
    const sent = configured.replace('*', star)
    const { price } = model
    return {
      kind: 'provider',
      name: name === '' ? model.name : name,
      sent,
      allow: this.allowOf(model.name),
      price: price === undefined ? null : (INPUT_SHARE * price.input + price.output) / (INPUT_SHARE + 1),
      provider: { ...provider, edits: provider.edits.forModel(sent) },
    }
  }

  #virtualRoute(model: AiModel): VirtualRoute {
    const known = this.#virtual.get(model.name)
    if (known !== undefined) return known
    const targets = (model.targets ?? []).map(({ model: name, when, weight }): RouteTarget => ({
      route: this.#routeTo(name),
      weight,
      when: when === undefined ? null : new TargetCondition(this.#env.cel(when, 'llmRoute')),
    }))
    const on = Object.fromEntries(
      failureKinds.flatMap((kind) => {
        const rule = model.fallback?.[kind]
        return rule === undefined ? [] : [[kind, this.#fallbackTo(rule)] as const]
      }),
    )
    const { by = 'Order', hash } = model
    const others = Object.values(on).filter((rule) => typeof rule !== 'string')
    const all = [...targets.map(({ route }) => route), ...others]
    const route: VirtualRoute = {
      kind: 'virtual',
      name: model.name,
      allow: this.allowOf(model.name),
      by,
      targets: by === 'Price' ? targets.toSorted((a, b) => priceOf(a.route) - priceOf(b.route)) : targets,
      hash: hash === undefined ? null : this.#env.cel(hash, 'llmRoute'),
      on,
      count: all.reduce((sum, each) => sum + (each.kind === 'virtual' ? each.count : 1), 0),
    }
    this.#virtual.set(model.name, route)
    return route
  }

  #fallbackTo(rule: string): Fallback {
    const word = rule.toLowerCase()
    return word === 'next' || word === 'fail' ? word : this.#routeTo(rule)
  }
}

/** The price of a virtual model is that of its cheapest target. */
function priceOf(route: ModelRoute): number {
  if (route.kind === 'provider') return route.price ?? Infinity
  return Math.min(...route.targets.map((target) => priceOf(target.route)))
}

/** Prompts are usually longer than responses. */
const INPUT_SHARE = 3
const MAX_CACHED_NAMES = 1_000
