import type { GuardTarget } from './ask.ts'
import { AZURE_KEY_HEADER, createAzureContentSafetyGuard } from './azure-content-safety/guard.ts'
import { bedrockHost, createBedrockGuardrailsGuard } from './bedrock-guardrails/guard.ts'
import { createGoogleModelArmorGuard, modelArmorHost } from './google-model-armor/guard.ts'
import type { Guard } from './guard.ts'
import { createHttpGuard } from './http/guard.ts'
import { createLakeraGuard } from './lakera/guard.ts'
import { createOpenAIModerationGuard, OPENAI_HOST } from './openai-moderation/guard.ts'
import { createPresidioGuard } from './presidio/guard.ts'
import { type PromptGuards, RequestGuards, ResponseGuards } from './prompt-guards.ts'
import { createRegexGuard } from './regex/guard.ts'
import type { CustomResponseConfig } from './rejection.ts'
import type { GuardName, PromptGuardConfig, RequestGuardConfig } from './schema.ts'
import type { ShadowServices } from '../../pipeline/shadow/request-shadows.ts'
import { ShadowGuards } from './shadow-guards.ts'
import { createWebhookGuard } from './webhook/guard.ts'

/** Resolves the services that guards call. */
export interface GuardEnv<Policies> {
  /** Records the outcomes of shadow guards. */
  shadows: ShadowServices
  /** The backend with this key in the config. */
  backend(key: string): GuardTarget
  /** The host of a vendor, with TLS on port 443 unless the policies of the guard say otherwise. */
  vendor(vendor: Vendor<Policies>): GuardTarget
}

export interface Vendor<Policies> {
  guard: GuardName
  host: string
  /** The credentials to use when the policies configure none. */
  defaultAuth: 'none' | 'aws' | 'gcp'
  /** The region for signatures; null when the vendor has no regions. */
  region: string | null
  /** The header of a key whose location the policies leave open; `Authorization: Bearer` when unset. */
  keyHeader?: string
  policies: Policies | undefined
}

/** Every response guard is also a request guard. */
type GuardConfig<Policies> = RequestGuardConfig<Policies>

/** Creates the guards of a policy once, when the config is compiled. */
export function createGuards<Policies>(config: PromptGuardConfig<Policies>, env: GuardEnv<Policies>): PromptGuards {
  const { allowUnexamined, mode, shadow } = config
  const isShadow = mode === 'Shadow'
  const { request, response } = isShadow ? NONE : config
  const tried = {
    request: [...((isShadow ? config.request : null) ?? []), ...(shadow?.request ?? [])],
    response: [...((isShadow ? config.response : null) ?? []), ...(shadow?.response ?? [])],
  }
  const guardsOf = (configs: readonly GuardConfig<Policies>[]) => configs.map((config) => createGuard(config, env))
  return {
    request: request === undefined ? null : new RequestGuards(guardsOf(request), allowUnexamined),
    response: response === undefined ? null : new ResponseGuards(guardsOf(response)),
    shadow:
      tried.request.length + tried.response.length === 0
        ? null
        : new ShadowGuards(
            tried.request.length === 0 ? null : new RequestGuards(guardsOf(tried.request), allowUnexamined),
            tried.response.length === 0 ? null : new ResponseGuards(guardsOf(tried.response)),
            env.shadows,
          ),
  }
}

const NONE = { request: undefined, response: undefined }

function createGuard<Policies>(config: GuardConfig<Policies>, env: GuardEnv<Policies>): Guard {
  for (const name of Object.keys(makers) as GuardName[]) {
    const guard = make(name, config, env)
    if (guard !== null) return guard
  }
  // Validation rejects a guard without a known kind.
  throw new Error('a guard without a kind')
}

function make<Name extends GuardName, Policies>(
  name: Name,
  config: GuardConfig<Policies>,
  env: GuardEnv<Policies>,
): Guard | null {
  const own = config[name]
  return own === undefined || own === null ? null : makers[name](own, env, config.response)
}

type Maker<Name extends GuardName> = <Policies>(
  config: NonNullable<RequestGuardConfig<Policies>[Name]>,
  env: GuardEnv<Policies>,
  response: CustomResponseConfig,
) => Guard

const makers: { [Name in GuardName]: Maker<Name> } = {
  regex: (config, _env, response) => createRegexGuard(config, response),
  http: (config, env, response) => createHttpGuard(config, env.backend(config.backendRef.name), response),
  presidio: (config, env, response) => createPresidioGuard(config, env.backend(config.backendRef.name), response),
  lakera(config, env, response) {
    const vendor = { host: config.host, region: null, defaultAuth: 'none', policies: config.policies } as const
    return createLakeraGuard(config, env.vendor({ guard: 'lakera', ...vendor }), response)
  },
  azureContentSafety(config, env, response) {
    const { host, policies } = config
    const vendor = { host, region: null, defaultAuth: 'none', keyHeader: AZURE_KEY_HEADER, policies } as const
    return createAzureContentSafetyGuard(config, env.vendor({ guard: 'azureContentSafety', ...vendor }), response)
  },
  webhook: (config, env) => createWebhookGuard(config, env.backend(config.backendRef.name)),
  openAIModeration(config, env, response) {
    const vendor = { host: OPENAI_HOST, region: null, defaultAuth: 'none', policies: config.policies } as const
    return createOpenAIModerationGuard(config, env.vendor({ guard: 'openAIModeration', ...vendor }), response)
  },
  bedrockGuardrails(config, env, response) {
    const { region, policies } = config
    const vendor = { host: bedrockHost(config), region, defaultAuth: 'aws', policies } as const
    return createBedrockGuardrailsGuard(config, env.vendor({ guard: 'bedrockGuardrails', ...vendor }), response)
  },
  googleModelArmor(config, env, response) {
    const vendor = {
      host: modelArmorHost(config),
      region: null,
      defaultAuth: 'gcp',
      policies: config.policies,
    } as const
    return createGoogleModelArmorGuard(config, env.vendor({ guard: 'googleModelArmor', ...vendor }), response)
  },
}
