/** `@portico/http/client`: destinations, their endpoints, and pools of connections to them. */
export { type AddressGuard, createAddressGuard } from '../client/addresses/address-guard.ts'
export { choose, type Standing } from '../client/endpoints/balance.ts'
export { rangeMatcher } from '../client/addresses/block-list.ts'
export {
  chooseVersion,
  Destination,
  type DestinationOptions,
  type LeasedAddress,
} from '../client/destination/destination.ts'
export type { Dial, Tunnel } from '../client/pool/dial.ts'
export { createResolver, type LookupFamily, type Resolver, type ResolverOptions } from '../client/addresses/dns.ts'
export { EndpointLease, type EndpointOwner, type Eviction } from '../client/endpoints/endpoints.ts'
export { Endpoint } from '../client/endpoints/endpoint.ts'
export { Endpoints, type NamedState } from '../client/endpoints/endpoints.ts'
export { Hbone } from '../client/hbone/hbone.ts'
export type { MeshCredentials, MeshMember } from '../client/hbone/hbone-pools.ts'
export { formatHostPort } from '../client/host-port.ts'
export { Pools } from '../client/pool/pools.ts'
export { type EndpointsChange, ServiceAddresses } from '../client/addresses/service-addresses.ts'
export { type ConnectionDefaults, type ConnectionSettings, defaultSettings } from '../client/destination/settings.ts'
export type { SharedCells, SharedCounters } from '../client/endpoints/shared-counters.ts'
export { clientTlsProblem, createClientTls } from '../client/destination/tls.ts'
export { TrackedBody } from '../client/destination/tracked-body.ts'
export { createTunnel } from '../client/destination/tunnel.ts'
export {
  type ConnectDone,
  type EndpointWatcher,
  isIdempotent,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../client/upstream-types.ts'
