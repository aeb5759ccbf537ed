import type { Http2Connection } from '../http2/http2-connection.ts'

type Connect = (...given: ConstructorParameters<typeof Http2Connection>) => Http2Connection

/**
 * The HTTP/2 client is loaded lazily with the first connection that may need it: most workers have only HTTP/1.1
 * backends.
 */
let connect: Connect | null = null

export function isHttp2Loaded(): boolean {
  return connect !== null
}

export async function loadHttp2(): Promise<void> {
  const { Http2Connection: Connection } = await import('../http2/http2-connection.ts')
  connect = (...given) => new Connection(...given)
}

/** Starts HTTP/2 on a connected socket; `loadHttp2` must have been awaited. */
export const connectHttp2: Connect = (...given) => {
  if (connect === null) throw new Error('loadHttp2 was not awaited')
  return connect(...given)
}
