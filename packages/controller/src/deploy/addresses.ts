import { isObject } from '@portico/http/json'
import type { Resource } from '@portico/translate'
import { listAt, textAt } from '@portico/translate/json'

/** An address in the status of a Gateway. */
export interface GatewayAddress {
  type: 'IPAddress' | 'Hostname'
  value: string
  /** The scope in which it is reachable; only in the status of a Gateway that requests scopes. */
  routability?: '' | 'Cluster'
}

/** Returns the addresses at which clients reach a Gateway, from its Service; empty until the load balancer assigns one. */
export function addressesOf(service: object, gateway: { spec?: unknown }): GatewayAddress[] {
  const requests = addressRequests(gateway)
  if (hasScopes(requests)) return scopedAddresses(service, requests)
  const found =
    textAt(service, 'spec', 'type') === 'LoadBalancer'
      ? loadBalancerAddresses(service)
      : clusterAddresses(service, gateway)
  return [...new Map(found.map((address) => [address.value, address])).values()]
}

/** One address for each request that the Service satisfies; never one of another scope. */
function scopedAddresses(service: object, requests: readonly AddressRequest[]): GatewayAddress[] {
  const isBalanced = textAt(service, 'spec', 'type') === 'LoadBalancer'
  const ofCluster = clusterIps(service).map((value) => ({ type: 'IPAddress', value, routability: 'Cluster' }) as const)
  const balanced = loadBalancerAddresses(service).map((address) => ({ ...address, routability: '' }) as const)
  const left: GatewayAddress[] = [...(isBalanced ? balanced : []), ...ofCluster]
  // A request for a value or a scope has fewer choices, so it comes first.
  const choosy = requests.toSorted((one, other) => strictness(other) - strictness(one))
  return choosy.flatMap((request) => {
    const index = left.findIndex((address) => {
      // With a load balancer, a request without a scope waits for its address.
      const isOther = isBalanced && request.routability === '' && address.routability === 'Cluster'
      return !isOther && satisfies(address, request)
    })
    return index < 0 ? [] : left.splice(index, 1)
  })
}

function strictness({ value, routability }: AddressRequest): number {
  return (value === '' ? 0 : 2) + (routability === '' ? 0 : 1)
}

function clusterIps(service: object): string[] {
  return listAt(service, 'spec', 'clusterIPs').filter((ip): ip is string => typeof ip === 'string' && ip !== 'None')
}

function loadBalancerAddresses(service: object): GatewayAddress[] {
  return listAt(service, 'status', 'loadBalancer', 'ingress').flatMap((entry): GatewayAddress[] => {
    const [hostname, ip] = [textAt(entry, 'hostname'), textAt(entry, 'ip')]
    if (hostname !== undefined && hostname !== '') return [{ type: 'Hostname', value: hostname }]
    return ip === undefined || ip === '' ? [] : [{ type: 'IPAddress', value: ip }]
  })
}

/** The addresses of a Service without a load balancer: its cluster IPs, and those that the Gateway requests. */
function clusterAddresses(service: object, gateway: object): GatewayAddress[] {
  const own = clusterIps(service)
  const asked = listAt(gateway, 'spec', 'addresses')
    .filter(isObject)
    .map((address) => textAt(address, 'value'))
  return [...own, ...asked].flatMap((value): GatewayAddress[] =>
    typeof value === 'string' && value !== '' ? [{ type: 'IPAddress', value }] : [],
  )
}

/** An entry of `spec.addresses` of a Gateway. */
export interface AddressRequest {
  type: string
  /** Empty when the platform chooses. */
  value: string
  /** The scope in which the address must be reachable: `Cluster`, one of other implementations, or empty for any. */
  routability: string
}

export function addressRequests(gateway: Pick<Resource, 'spec'> | undefined): AddressRequest[] {
  return listAt(gateway?.spec, 'addresses').map((address) => ({
    type: textAt(address, 'type') ?? 'IPAddress',
    value: textAt(address, 'value') ?? '',
    routability: textAt(address, 'routability') ?? '',
  }))
}

/**
 * Whether a request names a scope. Only then does the status name scopes too, because the CRDs before 1.7 of the Gateway API
 * have no field for them.
 */
export function hasScopes(requests: readonly AddressRequest[]): boolean {
  return requests.some(({ routability }) => routability !== '')
}

/** The requests that none of the addresses satisfies; each address satisfies one request. */
export function unsatisfiedRequests(
  requests: readonly AddressRequest[],
  addresses: readonly { type: string; value: string; routability?: string }[],
): AddressRequest[] {
  const left = [...addresses]
  return requests.filter((request) => {
    const index = left.findIndex((address) => satisfies(address, request))
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

/** Whether an address is one that the request asks for. */
function satisfies(
  { type, value, routability = '' }: { type: string; value: string; routability?: string },
  request: AddressRequest,
): boolean {
  if (type !== request.type || (request.value !== '' && value !== request.value)) return false
  return request.routability === '' || routability === request.routability
}

/** Prints `IPAddress 10.96.0.7 (Cluster)`. */
export function printRequest({ type, value, routability }: AddressRequest): string {
  return [type, value, routability === '' ? '' : `(${routability})`].filter((part) => part !== '').join(' ')
}
