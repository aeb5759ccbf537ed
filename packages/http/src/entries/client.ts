/** `@portico/http/client`: destinations, their endpoints, and pools of connections to them. */
export { type AddressGuard, createAddressGuard } from '../upstream/address-guard.ts'
export { choose, type Standing } from '../upstream/balance.ts'
export { rangeMatcher } from '../upstream/block-list.ts'
export { Destination, type DestinationOptions } from '../upstream/destination.ts'
export type { Tunnel } from '../upstream/dial.ts'
export { createResolver, type LookupFamily, type Resolver, type ResolverOptions } from '../upstream/dns.ts'
export { EndpointCall, type EndpointOwner, type Eviction } from '../upstream/endpoint-call.ts'
export { Endpoint } from '../upstream/endpoint.ts'
export { Endpoints, type NamedState } from '../upstream/endpoints.ts'
export { formatHostPort } from '../upstream/host-port.ts'
export { Pools } from '../upstream/pools.ts'
export { type EndpointsChange, ServiceAddresses } from '../upstream/service-addresses.ts'
export { type ConnectionDefaults, type ConnectionSettings, defaultSettings } from '../upstream/settings.ts'
export type { SharedCells, SharedCounters } from '../upstream/shared-counters.ts'
export { clientTlsProblem } from '../upstream/tls.ts'
export { TrackedBody } from '../upstream/tracked-body.ts'
export { createTunnel } from '../upstream/tunnel.ts'
export {
  type ConnectDone,
  type EndpointWatcher,
  isIdempotent,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../upstream/upstream-types.ts'
export { chooseVersion } from '../upstream/version.ts'
