import { list, object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { cidr } from '../../schema/fields/hosts.ts'
import { port } from '../../schema/fields/values.ts'

/** SPEC 2.2 dynamicForwardProxy, with the guard against calls into the own network. */
export const dynamicForwardProxy = object({
  allowCidrs: list(cidr().describe('An address range.'), { max: 64 })
    .prefault([])
    .describe('Private, loopback, link-local or metadata address ranges to allow; all of them are denied by default.'),
  ports: list(port().describe('A port.'), { max: 64 })
    .prefault([80, 443])
    .describe('Allowed ports; an empty list allows every port.'),
}).describe(
  'Sends each request to the host in its `Host` header, or on TLS listeners to the TLS server name. Clients can reach any destination, so restrict access.',
)

export type DynamicForwardProxyConfig = Output<typeof dynamicForwardProxy>
