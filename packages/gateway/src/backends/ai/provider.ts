import type { CreateCachedCall } from '../../cache/create-response-cache.ts'
import type { ProviderEdits } from '../../llm/edits/request-edits.ts'
import type { PromptGuards } from '../../llm/guards/prompt-guards.ts'
import type { CredentialPlace, Provider } from '../../llm/providers/provider.ts'
import type { CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import type { Pricer } from '../../records/llm-record.ts'
import type { Endpoint, EndpointOwner } from '@portico/http/client'

/** One provider of a backend, ready for calls. */
export interface ReadyProvider {
  /** The name in the config. */
  readonly name: string
  readonly vendor: Provider
  /** The owner of the `health` policy: the provider itself, or the whole backend. */
  readonly owner: EndpointOwner
  /** The health of the provider, shared by all workers when a `health` policy applies. */
  readonly endpoint: Endpoint
  /** The connection to the provider, with its backend policies. */
  readonly connection: CompiledBackend
  /** The connection for rerank calls; null when they use the other one. */
  readonly rerankConnection: CompiledBackend | null
  readonly credential: CredentialPlace
  readonly edits: ProviderEdits
  readonly guards: PromptGuards
  /** Null without a `prices` policy. */
  readonly pricer: Pricer | null
  /** Returns the price of a call in a batch; null without a `prices` policy. */
  readonly batchPricer: Pricer | null
  /** Null without a `cache`. */
  readonly cache: CreateCachedCall | null
}
