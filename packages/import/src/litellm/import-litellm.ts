import { commented, withoutAbsent } from '../core/config-yaml.ts'
import type { ImportedConfig, ImportResult } from '../core/import-result.ts'
import { sortReport } from '../core/report.ts'
import { problemsOf, SourceError, type SourceText } from '../core/source.ts'
import { type Field, readYaml } from '../core/yaml-field.ts'
import { behaviorOf } from './behavior.ts'
import { type Deployment, readDeployment } from './deployment.ts'
import { readFallbacks } from './fallbacks.ts'
import { groupsOf, modelsOf } from './groups.ts'
import { noteKnownFields } from './known-fields.ts'
import {
  readBudget,
  readCache,
  readHealth,
  readMasterKey,
  readRetry,
  readStrategy,
  readTimeout,
  type Sections,
} from './settings.ts'

/** Imports the config file of a LiteLLM proxy. */
export function importLitellm(sources: readonly SourceText[]): ImportResult {
  const result = problemsOf(() => {
    const [source, second] = sources
    if (source === undefined) throw new SourceError({ file: '', line: 1, column: 1 }, 'found no file')
    if (second !== undefined) {
      throw new SourceError(
        { file: second.name, line: 1, column: 1 },
        'found a second file; LiteLLM has one config file',
      )
    }
    return importFile(source)
  })
  return result
}

function importFile(source: SourceText): ImportedConfig {
  const root = readYaml(source)
  if (!root.isMapping) throw new SourceError(root.at, 'found no mapping, expected the config of a LiteLLM proxy')
  const sections: Sections = {
    general: root.get('general_settings'),
    litellm: root.get('litellm_settings'),
    router: root.get('router_settings'),
  }
  noteKnownFields(root, sections)
  const timeout = readTimeout(sections)
  const deployments = (root.get('model_list')?.items ?? []).flatMap((entry) => readDeployment(entry, { timeout }) ?? [])
  const groups = groupsOf(deployments)
  if (groups.length === 0) {
    throw new SourceError(
      root.get('model_list')?.at ?? root.at,
      'found no model that can be imported, expected model_list',
    )
  }
  const names = new Set(groups.map(({ name }) => name))
  const aliases = readAliases(sections, names)
  const fallbacks = readFallbacks([sections.litellm, sections.router], names)
  const isPriced = deployments.every(({ price }) => price !== null)
  const strategy = readStrategy(sections, isPriced)
  noteWeights(deployments, strategy)
  const key = readMasterKey(sections)
  const { cache, redis, env } = readCache(sections)
  const budget = readBudget(sections)
  const backend = withoutAbsent({
    health: readHealth(sections) ?? undefined,
    ai: cache === null ? undefined : { cache },
    prices: budget === null ? undefined : {},
  })
  const policies = withoutAbsent({
    apiKeyAuthentication: key.policy ?? undefined,
    headerModifiers: stripOf(deployments, key.policy !== null),
    budget: budget ?? undefined,
    retry: readRetry(sections) ?? undefined,
    backend: Object.keys(backend).length === 0 ? undefined : backend,
  })
  const settings = withoutAbsent({
    logging: isJson(sections) ? { format: 'json' } : undefined,
    stores: redis === null ? undefined : { redis },
  })
  const config = withoutAbsent({
    config: Object.keys(settings).length === 0 ? undefined : settings,
    llm: withoutAbsent({
      port: 4000,
      models: [...modelsOf(groups, fallbacks, strategy), ...aliases],
      policies: Object.keys(policies).length === 0 ? undefined : policies,
    }),
  })
  return {
    config,
    report: sortReport(root.reportOf(), [source.name]),
    behavior: behaviorOf(groups, fallbacks, { key: key.client, env: { ...key.env, ...env } }),
  }
}

/** Other names of models. */
function readAliases({ router }: Sections, names: ReadonlySet<string>): { name: string }[] {
  const found: { name: string }[] = []
  for (const [alias, field] of router?.get('model_group_alias')?.members ?? []) {
    const target = field.text ?? field.get('model')?.text ?? null
    if (
      target === null ||
      !names.has(target) ||
      target.includes('*') ||
      names.has(alias) ||
      !/^[\w.:/@+-]+$/.test(alias)
    ) {
      field.notCarried('the model of the alias is not carried, or another model has the alias as its name')
      continue
    }
    field.carried()
    const isHidden = field.get('hidden')?.isTrue === true
    if (isHidden) field.changed('GET /v1/models lists the alias, although it is hidden in LiteLLM')
    found.push(commented({ name: alias, targets: [{ model: target }] }, 'model_group_alias'))
  }
  return found
}

/** Without API keys, a client's own credential would reach providers that need none. */
function stripOf(deployments: readonly Deployment[], hasKeys: boolean): object | undefined {
  if (hasKeys || deployments.every(({ hasCredential }) => hasCredential)) return undefined
  return { request: { remove: ['authorization', 'x-api-key'] } }
}

/** Says what became of `rpm` and `tpm`, which are weights of LiteLLM's shuffle. */
function noteWeights(deployments: readonly Deployment[], strategy: string): void {
  const counts = new Map<string, number>()
  for (const { name } of deployments) counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const { name, field, weight } of deployments) {
    const isWeighted = strategy === 'Weight' && (counts.get(name) ?? 0) > 1 && weight === null
    for (const unit of ['rpm', 'tpm']) {
      const limit = field.get('litellm_params')?.get(unit)
      if (isWeighted && unit === 'rpm')
        limit?.changed('the value becomes the weight of the deployment, and does not limit requests')
      else limit?.notCarried('the gateway has no limits for a provider; a rateLimit policy limits clients')
    }
  }
}

function isJson({ litellm }: Sections): boolean {
  const field: Field | null = litellm?.get('json_logs') ?? null
  field?.carried()
  return field?.isTrue ?? false
}
