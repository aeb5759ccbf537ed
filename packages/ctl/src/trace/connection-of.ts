import type { RequestOptions } from 'node:http'
import type { AdminAddress } from './admin-address.ts'

/** Request options for the admin server; the connection closes after the request. */
export function connectionOf({ connect }: AdminAddress): RequestOptions {
  if ('socketPath' in connect) return { ...connect, agent: false }
  const { host, port, createConnection } = connect
  if (createConnection === undefined) return { host, port, agent: false }
  return {
    host,
    port,
    // Node ignores `createConnection` when an agent is used.
    createConnection(options, connected) {
      // On failure there is no stream, although the types require one.
      createConnection(options, connected as (error: Error | null, stream?: unknown) => void)
      return undefined
    },
  }
}
