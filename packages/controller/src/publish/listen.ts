import { parseAddress } from '@portico/gateway/operators'
import type { Identity } from './certificate.ts'
import type { Publisher } from './publisher.ts'

/** Opens the port for data planes; on a machine without IPv6 for IPv4 only. */
export async function listenForDataPlanes(
  publisher: Publisher,
  identity: Identity,
  address: string,
): Promise<{ host: string; port: number }> {
  const parsed = parseAddress(address)
  if (!parsed.ok) throw new Error(parsed.problem)
  if (parsed.value.kind !== 'tcp') throw new Error('the address for data planes must have a port')
  const { hosts, port } = parsed.value
  const [host] = hosts
  const bound = await publisher.listen(identity, { host, port }).catch((error: NodeJS.ErrnoException) => {
    if (host !== '::' || error.code !== 'EAFNOSUPPORT') throw error
    return publisher.listen(identity, { host: '0.0.0.0', port })
  })
  return { host, port: bound }
}
