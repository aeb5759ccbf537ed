import type { Field } from '../../core/yaml-field.ts'
import { upstreamAddress } from '../messages/addresses.ts'
import { enumOf, listAt, memberAt, takeText } from '../messages/message.ts'

const LOST = 'the gateway uses only the endpoints with the highest priority'

/** Returns the endpoints of a cluster that have the highest priority, with their weights. */
export function readEndpoints(cluster: Field): { host: string; weight: number }[] {
  const assignment = memberAt(cluster, 'load_assignment')
  takeText(assignment, 'cluster_name')
  memberAt(assignment, 'policy')?.notCarried('the gateway has no overprovisioning')
  const localities = listAt(assignment, 'endpoints')
  const priorityOf = (locality: Field): number => memberAt(locality, 'priority')?.number ?? 0
  const first = Math.min(...localities.map(priorityOf))
  const isByLocality =
    memberAt(cluster, 'common_lb_config', 'locality_weighted_lb_config') !== null &&
    localities.some((each) => memberAt(each, 'load_balancing_weight') !== null)
  const found = localities.flatMap((locality) => {
    const [priority, place, weight] = ['priority', 'locality', 'load_balancing_weight'].map((name) =>
      memberAt(locality, name),
    )
    place?.notCarried('the gateway ignores zones')
    if (priorityOf(locality) !== first) {
      locality.notCarried(LOST)
      return []
    }
    if (localities.some((each) => priorityOf(each) !== first)) priority?.notCarried(LOST)
    else priority?.carried()
    const members = listAt(locality, 'lb_endpoints').flatMap((endpoint) => readEndpoint(endpoint))
    if (isByLocality) weight?.carried()
    else weight?.notCarried('the weight has no effect in Envoy without locality_weighted_lb_config')
    const share = isByLocality ? (weight?.number ?? 0) : 1
    const sum = members.reduce((total, each) => total + each.weight, 0)
    return members.map((each) => ({ ...each, weight: isByLocality ? (share * each.weight) / sum : each.weight }))
  })
  return wholeWeights(found)
}

function readEndpoint(field: Field): { host: string; weight: number }[] {
  const status = memberAt(field, 'health_status')
  const endpoint = memberAt(field, 'endpoint')
  const host = upstreamAddress(memberAt(endpoint, 'address'))
  memberAt(endpoint, 'hostname')?.notCarried('the gateway uses the address as the name of an endpoint')
  memberAt(endpoint, 'health_check_config')?.notCarried(
    'the gateway sends no health checks; a health policy learns from traffic: docs/backends.md',
  )
  memberAt(field, 'metadata')?.notCarried("the gateway's endpoints have no metadata")
  if (host === null) {
    const place = endpoint ?? field
    place.notCarried('the address is not a host with a port')
    return []
  }
  status?.carried()
  if (['UNHEALTHY', 'DRAINING', 'TIMEOUT'].includes(enumOf(status, 'UNKNOWN'))) return []
  const weight = memberAt(field, 'load_balancing_weight')
  weight?.carried()
  return [{ host, weight: weight?.number ?? 1 }]
}

/** Returns items with weights in the same proportion, as integers that a route accepts. */
export function wholeWeights<Item extends { readonly weight: number }>(items: readonly Item[]): Item[] {
  const weights = items.map(({ weight }) => weight)
  const most = Math.max(...weights)
  if (weights.every((weight) => Number.isInteger(weight)) && most <= 1_000_000) {
    const divisor = weights.reduce((one, other) => commonDivisor(one, other), 0)
    return items.map((each) => ({ ...each, weight: divisor === 0 ? each.weight : each.weight / divisor }))
  }
  const scale = most === 0 ? 0 : 1_000 / most
  return items.map((each) => ({
    ...each,
    weight: each.weight === 0 ? 0 : Math.max(1, Math.round(each.weight * scale)),
  }))
}

export function commonDivisor(one: number, other: number): number {
  return other === 0 ? one : commonDivisor(other, one % other)
}
