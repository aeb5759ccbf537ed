import type { GuardTarget } from './ask.ts'
import { bedrockHost, createBedrockGuardrailsGuard } from './bedrock-guardrails/guard.ts'
import { chainOf, type GuardChain } from './chain.ts'
import { createGoogleModelArmorGuard, modelArmorHost } from './google-model-armor/guard.ts'
import type { Guard, GuardPhase } from './guard.ts'
import { createOpenAIModerationGuard, OPENAI_HOST } from './openai-moderation/guard.ts'
import { createRegexGuard } from './regex/guard.ts'
import type { RequestGuardConfig, ResponseGuardConfig } from './schema.ts'
import { createWebhookGuard } from './webhook/guard.ts'

/** Where guards find those whom they ask. */
export interface GuardEnv<Policies> {
  /** A backend of the config, by its key. */
  backend(key: string): GuardTarget
  /** A vendor's host, by TLS on port 443 unless the policies of the guard say otherwise. */
  vendor(vendor: Vendor<Policies>): GuardTarget
}

export interface Vendor<Policies> {
  guard: 'openAIModeration' | 'bedrockGuardrails' | 'googleModelArmor'
  host: string
  /** For signatures; null where the vendor has none. */
  region: string | null
  policies: Policies | undefined
}

type GuardConfig<Policies> = RequestGuardConfig<Policies> | ResponseGuardConfig<Policies>

/** Made once, when the config is compiled. */
export function createGuards<Policies>(
  configs: readonly GuardConfig<Policies>[],
  phase: GuardPhase,
  env: GuardEnv<Policies>,
): GuardChain {
  return chainOf(
    configs.map((config) => createGuard(config, env)),
    phase,
  )
}

function createGuard<Policies>(config: GuardConfig<Policies>, env: GuardEnv<Policies>): Guard {
  const { regex, webhook, bedrockGuardrails, googleModelArmor, response } = config
  const openAIModeration = 'openAIModeration' in config ? config.openAIModeration : undefined
  if (regex !== undefined) return createRegexGuard(regex, response)
  if (webhook !== undefined) return createWebhookGuard(webhook, env.backend(webhook.backendRef.name))
  if (openAIModeration !== undefined) {
    const { policies } = openAIModeration
    const target = env.vendor({ guard: 'openAIModeration', host: OPENAI_HOST, region: null, policies })
    return createOpenAIModerationGuard(openAIModeration, target, response)
  }
  if (bedrockGuardrails !== undefined) {
    const { region, policies } = bedrockGuardrails
    const target = env.vendor({ guard: 'bedrockGuardrails', host: bedrockHost(bedrockGuardrails), region, policies })
    return createBedrockGuardrailsGuard(bedrockGuardrails, target, response)
  }
  if (googleModelArmor !== undefined) {
    const { policies } = googleModelArmor
    const host = modelArmorHost(googleModelArmor)
    const target = env.vendor({ guard: 'googleModelArmor', host, region: null, policies })
    return createGoogleModelArmorGuard(googleModelArmor, target, response)
  }
  // Validation refuses a guard that is none of these.
  throw new Error('a guard without a kind')
}
