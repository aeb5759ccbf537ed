import { isObject } from '@portico/http/json'
import { listAt, textAt } from '@portico/translate/json'

/** An address in the status of a Gateway. */
export interface GatewayAddress {
  type: 'IPAddress' | 'Hostname'
  value: string
}

/** Returns the addresses at which clients reach a Gateway, from its Service; empty until the load balancer assigns one. */
export function addressesOf(service: object, gateway: object): GatewayAddress[] {
  const found =
    textAt(service, 'spec', 'type') === 'LoadBalancer'
      ? loadBalancerAddresses(service)
      : clusterAddresses(service, gateway)
  return [...new Map(found.map((address) => [address.value, address])).values()]
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
  const own = listAt(service, 'spec', 'clusterIPs').filter((ip) => typeof ip === 'string' && ip !== 'None')
  const asked = listAt(gateway, 'spec', 'addresses')
    .filter(isObject)
    .map((address) => textAt(address, 'value'))
  return [...own, ...asked].flatMap((value): GatewayAddress[] =>
    typeof value === 'string' && value !== '' ? [{ type: 'IPAddress', value }] : [],
  )
}
