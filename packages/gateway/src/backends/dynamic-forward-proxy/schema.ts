import { list, object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { cidr } from '../../schema/fields/hosts.ts'
import { port } from '../../schema/fields/values.ts'

/** SPEC 2.2 dynamicForwardProxy, with the guard against calls into the own network. */
export const dynamicForwardProxy = object({
  allowCidrs: list(cidr().describe('An address range.'), { max: 64 })
    .prefault([])
    .describe(
      'Private, loopback, link-local or metadata ranges that may be reached; all of them are refused by default.',
    ),
  ports: list(port().describe('A port.'), { max: 64 })
    .prefault([80, 443])
    .describe('Ports that may be reached; an empty list allows every port.'),
}).describe(
  'Sends each request to the host it names in `Host`, or in the TLS server name on TLS listeners. It can reach any destination, so use it with access controls.',
)

export type DynamicForwardProxyConfig = Output<typeof dynamicForwardProxy>
