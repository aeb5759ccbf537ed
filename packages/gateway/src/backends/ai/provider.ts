import type { ProviderEdits } from '../../llm/edits/request-edits.ts'
import type { GuardChain } from '../../llm/guards/chain.ts'
import type { CredentialPlace, Provider } from '../../llm/providers/provider.ts'
import type { CompiledBackend } from '../../pipeline/compiled.ts'
import type { Endpoint } from '../../upstream/endpoint.ts'
import type { EndpointOwner } from '../../upstream/endpoint-call.ts'

/** One provider of a backend, ready to be called. */
export interface ReadyProvider {
  /** Name in the config. */
  readonly name: string
  readonly vendor: Provider
  /** What a `health` policy says of it: its own, or that of the whole backend. */
  readonly owner: EndpointOwner
  /** How it has answered, shared by all workers where a `health` policy speaks of it. */
  readonly endpoint: Endpoint
  /** How it is reached, with its backend policies. */
  readonly connection: CompiledBackend
  readonly credential: CredentialPlace
  readonly edits: ProviderEdits
  readonly guards: ProviderGuards
}

/** What looks at requests and answers; null where nothing does. */
export interface ProviderGuards {
  request: GuardChain | null
  response: GuardChain | null
}
