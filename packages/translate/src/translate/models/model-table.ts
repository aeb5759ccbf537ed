import { aiTarget, findModelFaults, modelNode, sectionKey } from '@portico/gateway/ir'
import type { AttachedPolicy, Backend, BackendTarget } from '@portico/gateway/ir'
import { inlinePolicies, printProblems, withoutTls } from '../backends/backend.ts'
import { aiServers } from '../backends/ai-pools.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { compare } from '../precedence.ts'
import { type ModelPlan, modelPlan, type NamedPlan, type TableModel } from './model-plan.ts'
import { membersOfTable } from './table-members.ts'
import { resolveTargets } from './virtual-targets.ts'

/** The models of one listener or rule, as a backend that routes by model. */
interface ModelTable {
  backend: Backend
  /** Policies of single models. */
  policies: AttachedPolicy[]
  /** Backends without a server, for models that cannot be used: their calls fail. */
  broken: Backend[]
  /** Why models of the table cannot be used, by `namespace/name`. */
  problems: Record<string, Unusable>
  /** References of virtual models that do not resolve, by `namespace/name`; their other targets work. */
  unresolved: Record<string, string[]>
}

type AiTarget = Extract<BackendTarget, { kind: 'ai' }>
type AiProvider = AiTarget['groups'][number][number]

/**
 * The table of a listener or of a rule, by its key. A model that cannot be used keeps its name, and its requests fail: a pattern
 * must not send them to another provider.
 */
export const modelTable: Query<ModelTable> = {
  name: 'modelTable',
  compute(context, key) {
    const plans = membersOfTable(context, key)
      .flatMap((place) => context.read(modelPlan, place) ?? [])
      .toSorted((one, other) => compare(one.age, other.age))
    const problems: Record<string, Unusable> = {}
    const unresolved: Record<string, string[]> = {}
    const named = withoutDuplicates(plans, problems)
    const parts = new TableParts(context, key)
    const virtual: { plan: NamedPlan; config: TableModel }[] = []
    for (const plan of named) {
      if (plan.spec === null) parts.addBroken(plan, plan.problem?.message ?? '')
      else if (plan.spec.targets === undefined) {
        const problem = parts.addProvider(plan, configOf(plan))
        if (problem !== null) problems[plan.place] = problem
      } else {
        const found = resolveTargets(context, plan, named)
        if ('reason' in found) {
          problems[plan.place] = found
          parts.addBroken(plan, found.message)
        } else {
          if (found.missing.length > 0) unresolved[plan.place] = found.missing.map(({ message }) => message)
          for (const { model, message } of found.missing) parts.addMissing(model, message)
          virtual.push({ plan, config: { ...configOf(plan), targets: found.targets } })
        }
      }
    }
    parts.addVirtual(virtual, problems)
    return { ...parts.table(), problems, unresolved }
  },
}

/** Keeps the oldest of the models with one name. */
function withoutDuplicates(plans: readonly ModelPlan[], problems: Record<string, Unusable>): NamedPlan[] {
  const winners = new Map<string, NamedPlan>()
  for (const plan of plans) {
    if (plan.problem !== null) problems[plan.place] = plan.problem
    if (plan.model === null) continue
    const winner = winners.get(plan.model)
    if (winner === undefined) winners.set(plan.model, { ...plan, model: plan.model })
    else {
      const message = `GwModel ${winner.place} is older and has the same model \`${plan.model}\``
      problems[plan.place] = { reason: 'Conflicted', message }
    }
  }
  return [...winners.values()]
}

/** The model in the form of the config file. */
function configOf({ model, spec }: NamedPlan): TableModel {
  if (spec === null) throw new Error(`the model ${model} has no spec`)
  const { parentRefs: _parents, match: _match, targets: _targets, ...rest } = spec
  return { ...rest, name: model }
}

/** Builds the backend of a table. */
class TableParts {
  readonly #context: Context
  readonly #key: string
  readonly #providers: AiProvider[] = []
  readonly #models: TableModel[] = []
  readonly #policies: AttachedPolicy[] = []
  readonly #broken: Backend[] = []

  constructor(context: Context, key: string) {
    this.#context = context
    this.#key = key
  }

  /** Adds a model with a provider; returns why it cannot be used. */
  addProvider(plan: NamedPlan, config: TableModel): Unusable | null {
    const section = sectionKey(this.#key, plan.place)
    const alone = `${section}/alone`
    const servers = aiServers(this.#context, { namespace: plan.namespace, key: alone }, { models: [config] })
    const policies = inlinePolicies(section, config.policies)
    const problem = 'reason' in servers ? servers : (faultOf(config) ?? this.#policyFault(config))
    if (problem !== null || 'reason' in servers) {
      this.addBroken(plan, problem?.message ?? '')
      return problem
    }
    this.#models.push(config)
    this.#policies.push(...policies)
    this.#providers.push(...servers.target.groups.flat().map((provider) => ({ ...provider, key: section })))
    return null
  }

  /** Adds a model whose requests fail. */
  addBroken({ place, model }: Pick<NamedPlan, 'place' | 'model'>, reason: string): void {
    this.#addUnusable({ place, model, visibility: 'Public' }, reason)
  }

  /** Adds a model that only a virtual model refers to, and whose requests fail. */
  addMissing(model: string, reason: string): void {
    if (this.#models.some(({ name }) => name === model)) return
    this.#addUnusable({ place: model, model, visibility: 'Internal' }, reason)
  }

  /** Adds virtual models; those that disagree with others cannot be used. */
  addVirtual(virtual: readonly { plan: NamedPlan; config: TableModel }[], problems: Record<string, Unusable>): void {
    const nodes = [...this.#models, ...virtual.map(({ config }) => config)].map(modelNode)
    const faults = findModelFaults(nodes)
    for (const { plan, config } of virtual) {
      const own = faults.filter(({ model }) => model.name === plan.model)
      if (own.length === 0) {
        this.#models.push(config)
        continue
      }
      const message = printFaults(own)
      problems[plan.place] = { reason: 'UnsupportedValue', message }
      this.addBroken(plan, message)
    }
  }

  table(): Pick<ModelTable, 'backend' | 'policies' | 'broken'> {
    const { models = [] } = aiTarget({ models: this.#models }, this.#key)
    const target: AiTarget = { kind: 'ai', groups: [this.#providers], models }
    const backend: Backend = { key: this.#key, name: nameOfTable(this.#key), target }
    return { backend, policies: this.#policies, broken: this.#broken }
  }

  #addUnusable(
    { place, model, visibility }: { place: string; model: string; visibility: TableModel['visibility'] },
    reason: string,
  ): void {
    const section = sectionKey(this.#key, place)
    const pool = `${section}/unusable`
    // The price makes it the last choice of a virtual model that chooses by price.
    const config: TableModel = { name: model, provider: { openai: {} }, price: HIGHEST_PRICE, visibility }
    this.#models.push(config)
    this.#providers.push({ key: section, name: model, config: { openai: {}, host: 'unusable', port: 80 }, pool })
    this.#broken.push({ key: pool, name: 'invalid', target: { kind: 'invalid', reason } })
  }

  /** Why the provider with its policies would not compile. */
  #policyFault(config: TableModel): Unusable | null {
    const key = `${this.#key}/checked`
    const backend: Backend = { key, name: config.name, target: aiTarget({ models: [config] }, key) }
    const policies = inlinePolicies(sectionKey(key, config.name), config.policies).map(withoutTls)
    const faults = this.#context.settings.checks.backend(backend, policies)
    if (faults.length === 0) return null
    return { reason: 'Invalid', message: faults.map(({ message }) => message).join('; ') }
  }
}

/** The disagreement of a model with itself. */
function faultOf(config: TableModel): Unusable | null {
  const faults = findModelFaults([modelNode(config)])
  return faults.length === 0 ? null : { reason: 'UnsupportedValue', message: printFaults(faults) }
}

function printFaults(faults: ReturnType<typeof findModelFaults>): string {
  return printProblems(
    faults.map(({ model: _model, path, ...fault }) => {
      // A target refers to a GwModel, not to the name of its model.
      const own = path[0] === 'targets' ? path.map((part) => (part === 'model' ? 'modelRef' : part)) : path
      return { code: 'conflict', at: 'value', path: ['spec', ...own], ...fault }
    }),
  )
}

const HIGHEST_PRICE = { input: 1_000_000, output: 1_000_000 }

/** The name in logs and metrics, as `shop/web` of a Gateway or of a route. */
function nameOfTable(key: string): string {
  const [, , , namespace = '', name = ''] = key.split('/')
  return `${namespace}/${name}`
}
