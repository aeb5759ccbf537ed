import type { RequestOptions } from 'node:http'
import type { AdminAddress } from './admin-address.ts'

/** Options of a request that reach the admin server, by a connection that is closed after it. */
export function connectionOf({ connect }: AdminAddress): RequestOptions {
  if ('socketPath' in connect) return { ...connect, agent: false }
  const { host, port, createConnection } = connect
  if (createConnection === undefined) return { host, port, agent: false }
  return {
    host,
    port,
    // With an agent it would not be asked.
    createConnection(options, connected) {
      // On failure there is no stream, whatever the types say.
      createConnection(options, connected as (error: Error | null, stream?: unknown) => void)
      return undefined
    },
  }
}
