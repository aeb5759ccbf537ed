import { inferencePoolBackend } from '../backends/inference-pool/call.ts'
import { unmarkedMembers } from '../backends/inference-pool/members.ts'
import { createPicker } from '../backends/inference-pool/picker.ts'
import type { BackendIdentity, CompiledBackend } from '../pipeline/compiled/compiled.ts'
import type { Env } from '../pipeline/context/step.ts'
import { limitCalls } from '../pipeline/call/limited-call.ts'
import type { BackendPolicies } from '../policies/index.ts'
import type { PickerTarget } from '../schema/fields/inference-pool.ts'
import { connectionSettings } from './connection.ts'
import type { TunnelParts } from './services.ts'
import { Destination, type Resolver } from '@portico/http/client'

interface PoolSettings {
  identity: BackendIdentity
  policies: BackendPolicies
  /** Resolves to the members of the pool. */
  members: Resolver
  /** Null when the gateway balances the requests itself. */
  picker: PickerTarget | null
  /** The HTTP version of the members, unless a policy sets it; null uses the client's. */
  version: 'HTTP1' | 'HTTP2' | null
  /** Whether the pool is the backend of a route, and not a provider of an `ai` backend. */
  isWhole: boolean
}

export type CompilePool = typeof compilePool

/** Compiles an inference pool to a backend that requests can be sent to. */
export function compilePool(
  { identity, policies, members, picker, version, isWhole }: PoolSettings,
  env: Omit<Env, 'attachment'>,
  { services }: TunnelParts,
): CompiledBackend {
  const { pools, endpoints, upstream, hbone, now, deadlines } = services
  const settings = connectionSettings(policies, upstream)
  settings.version ??= version
  // Health applies to a provider as a whole, not to its addresses.
  if (!isWhole) settings.health = null
  const address = { host: identity.name, port: 0, named: true as const }
  const backend = inferencePoolBackend(identity, {
    destination: new Destination({
      backend: identity,
      settings,
      address,
      guard: null,
      resolver: members,
      pools,
      endpoints,
      hbone,
    }),
    settings,
    members: unmarkedMembers(members),
    picker: picker === null ? null : createPicker(picker, identity.name, { ...env, attachment: identity.key }),
    now,
    isWhole,
  })
  return isWhole ? backend : limitCalls(backend, deadlines)
}
